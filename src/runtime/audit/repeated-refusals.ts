import type { AuditEvent } from "./audit-event.ts";
import { type Refusal, RefusalCounter } from "./refusal-counter.ts";

/** For how long refusals are counted together, in milliseconds. */
export const WINDOW_MS = 60_000;
/** The most callers whose refusals are counted apart; those of others are counted by RPC. */
const MAX_COUNTERS = 500;

/** A series of refusals that is open. */
interface Series {
  readonly counter: RefusalCounter;
  /** Of `performance.now()`. */
  readonly closesAt: number;
}

/** What becomes of a series. */
export interface RefusalSink {
  /** The first repeat came: should the process die, this is what is known. */
  began(counter: RefusalCounter): void;
  closed(counter: RefusalCounter): void;
}

/** Whose refusal it is. */
export interface RefusalKey {
  readonly rpc: string;
  readonly code: string;
  readonly caller: string;
}

/**
 * Counts refusals that repeat: the first of a caller on an RPC is an event of its own, and those
 * of the next minute are one. So a caller without any permission cannot fill the store.
 */
export class RepeatedRefusals {
  readonly #sink: RefusalSink;
  /** Oldest first: all are open for the same time. */
  readonly #series = new Map<string, Series>();
  /** How many of them are of one caller. */
  #own = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(sink: RefusalSink) {
    this.#sink = sink;
  }

  /**
   * Counts a refusal, unless it is the first of its series.
   *
   * @param id that of its event
   * @param event makes its event; asked for where it begins a counting one
   * @returns whether it was counted, and is to have no event of its own
   */
  count(
    { rpc, code, caller }: RefusalKey,
    id: string,
    refusal: Omit<Refusal, "event">,
    event: () => AuditEvent,
  ): boolean {
    if (this.#isClosed) return false;
    const own = JSON.stringify([rpc, code, caller]);
    const key =
      this.#series.has(own) || this.#own < MAX_COUNTERS ? own : JSON.stringify([rpc, code]);
    const series = this.#series.get(key);
    if (series === undefined) {
      this.#open(key, new RefusalCounter(id, key !== own));
      if (key === own) this.#own++;
      return false;
    }
    const { counter } = series;
    counter.add(Date.now(), refusal, event);
    if (counter.count === 1) this.#sink.began(counter);
    return true;
  }

  /** Closes all, and counts no more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const [key, series] of this.#series) this.#end(key, series);
  }

  #open(key: string, counter: RefusalCounter): void {
    this.#series.set(key, { counter, closesAt: performance.now() + WINDOW_MS });
    this.#timer ??= setTimeout(() => this.#look(), WINDOW_MS).unref();
  }

  #look(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const [key, series] of this.#series) {
      const rest = series.closesAt - now;
      if (rest > 0) {
        this.#timer = setTimeout(() => this.#look(), Math.ceil(rest)).unref();
        return;
      }
      this.#end(key, series);
    }
  }

  #end(key: string, { counter }: Series): void {
    this.#series.delete(key);
    if ((JSON.parse(key) as unknown[]).length === 3) this.#own--;
    if (counter.count > 0) this.#sink.closed(counter);
  }
}
