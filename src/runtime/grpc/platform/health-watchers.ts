import type { PlatformExchange } from "./platform-method.ts";

/** How often watchers are told of a change at most. */
const WATCH_INTERVAL_MS = 500;

/** How many are told of a change in one turn of the event loop: in some milliseconds. */
const PORTION = 128;

/** What watchers are told, as bytes: always the same object for the same status. */
export type Told = Uint8Array;

/**
 * Those who watch health. One timer looks for all of them, and while nothing changes it looks at
 * nothing but that.
 */
export class HealthWatchers {
  readonly #isReady: () => boolean;
  readonly #watchers = new Set<Watcher>();
  #timer: NodeJS.Timeout | undefined;
  /** What all have been told of, or are being told. */
  #wasReady = false;

  constructor(isReady: () => boolean) {
    this.#isReady = isReady;
  }

  /**
   * Tells the status now, then each change, until the signal aborts: then a change that came with
   * it, and rejects with its reason.
   */
  async watch(exchange: PlatformExchange, signal: AbortSignal, status: () => Told): Promise<never> {
    const watcher = new Watcher(exchange, signal, status);
    this.#look();
    // One timer while there are any watchers.
    this.#timer ??= setInterval(() => this.#look(), WATCH_INTERVAL_MS).unref();
    this.#watchers.add(watcher);
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener("abort", () => resolve());
        watcher.onError = reject;
        watcher.tell();
        if (signal.aborted) resolve();
      });
      watcher.tell();
      throw signal.reason;
    } finally {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }
  }

  #look(): void {
    const isReady = this.#isReady();
    if (isReady === this.#wasReady) return;
    this.#wasReady = isReady;
    tellInPortions(this.#watchers.values());
  }
}

function tellInPortions(watchers: Iterator<Watcher, undefined>): void {
  for (let count = 0; count < PORTION; count++) {
    const { value } = watchers.next();
    if (value === undefined) return;
    value.tell();
  }
  setImmediate(() => tellInPortions(watchers));
}

class Watcher {
  onError: (error: unknown) => void = () => undefined;
  readonly #exchange: PlatformExchange;
  readonly #signal: AbortSignal;
  readonly #status: () => Told;
  #told: Told | undefined;
  #isTelling = false;

  constructor(exchange: PlatformExchange, signal: AbortSignal, status: () => Told) {
    this.#exchange = exchange;
    this.#signal = signal;
    this.#status = status;
  }

  /** Tells what has changed. Of changes that a client does not take in time, it is told the last one. */
  tell(): void {
    if (!this.#isTelling) this.#tellAll().catch(this.onError);
  }

  async #tellAll(): Promise<void> {
    this.#isTelling = true;
    for (let now = this.#status(); now !== this.#told; now = this.#status()) {
      this.#told = now;
      await this.#exchange.send(now, () => this.#signal);
    }
    this.#isTelling = false;
  }
}
