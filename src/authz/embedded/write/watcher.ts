import { abortError } from "../../engine/abort-error.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import type { RelationshipStore, StoredChange } from "../../engine/relationship-store.ts";

const BATCH = 100;

/** Notifies the watchers of a store that there are more changes. */
export class Watcher {
  readonly #store: RelationshipStore;
  readonly #head: () => number;
  readonly #waiting = new Set<() => void>();
  #closed = false;
  #failure: AuthzError | undefined;

  /** @param head the number of the last applied write: nobody sees a write before it is applied */
  constructor(store: RelationshipStore, head: () => number) {
    this.#store = store;
    this.#head = head;
  }

  /** Wakes the waiting watchers. */
  notify(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Ends all watches with an error. */
  fail(error: AuthzError): void {
    this.#failure = error;
    this.notify();
  }

  /** Ends all watches. */
  close(): void {
    this.#closed = true;
    this.notify();
  }

  /** The changes after a number, including future ones, until `close` or the signal. */
  async *follow(from: number, signal?: AbortSignal): AsyncGenerator<StoredChange> {
    let sequence = from;
    while (!this.#closed) {
      if (this.#failure !== undefined) throw this.#failure;
      if (signal?.aborted) throw abortError(signal);
      if (sequence >= this.#head()) {
        await this.#change(signal);
        continue;
      }
      const changes = await this.#store.changesAfter(sequence, BATCH);
      if (changes === undefined) {
        throw new AuthzError(
          "OUT_OF_RANGE",
          "the changes after this revision are no longer kept; read the relationships again and watch from there",
        );
      }
      const head = this.#head();
      for (const change of changes) {
        if (change.sequence > head) break;
        sequence = change.sequence;
        yield change;
        if (this.#closed) return;
        if (signal?.aborted) throw abortError(signal);
      }
    }
  }

  #change(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }
}
