import { MAX_BATCH, type Revocation } from "./revocation.ts";

/** The latest revocations, by consecutive numbers: what watchers that come back have missed. */
export class RevocationLog {
  readonly #capacity: number;
  /** The last one has the number `#head`. */
  #revocations: Revocation[] = [];
  #head = 0;

  /** @param capacity how many it keeps at least, once there were as many */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The number of the last revocation; 0 before the first one. */
  get head(): number {
    return this.#head;
  }

  push(revocation: Revocation): void {
    this.#head++;
    this.#revocations.push(revocation);
    // Not on each: moving all of them would make a publication as slow as the log is long.
    const tooMany = this.#revocations.length - this.#capacity;
    if (tooMany >= this.#capacity) this.#revocations = this.#revocations.slice(tooMany);
  }

  /** A batch of those after a number; undefined if it no longer has all of them. */
  after(number: number): readonly Revocation[] | undefined {
    const missed = this.#head - number;
    if (missed > this.#revocations.length) return undefined;
    const from = this.#revocations.length - missed;
    return this.#revocations.slice(from, from + MAX_BATCH);
  }
}
