import { hashPair } from "./pair-table.ts";

/** A set of pairs of integers that is cleared in constant time, by a new epoch. */
export class VisitedSet {
  #lefts: Int32Array;
  #rights: Int32Array;
  #epochs: Int32Array;
  #mask: number;
  #epoch = 1;
  #count = 0;

  /** @param capacity a power of two; the set grows beyond it */
  constructor(capacity = 256) {
    this.#lefts = new Int32Array(capacity);
    this.#rights = new Int32Array(capacity);
    this.#epochs = new Int32Array(capacity);
    this.#mask = capacity - 1;
  }

  /** Empties the set. */
  clear(): void {
    this.#count = 0;
    this.#epoch++;
    if (this.#epoch === 0x7fffffff) {
      this.#epochs.fill(0);
      this.#epoch = 1;
    }
  }

  /** Adds a pair; false where it was there. */
  add(left: number, right: number): boolean {
    const mask = this.#mask;
    let slot = hashPair(left, right) & mask;
    while (this.#epochs[slot] === this.#epoch) {
      if (this.#lefts[slot] === left && this.#rights[slot] === right) return false;
      slot = (slot + 1) & mask;
    }
    this.#lefts[slot] = left;
    this.#rights[slot] = right;
    this.#epochs[slot] = this.#epoch;
    if (++this.#count * 2 > this.#epochs.length) this.#grow();
    return true;
  }

  #grow(): void {
    const [lefts, rights, epochs] = [this.#lefts, this.#rights, this.#epochs];
    const size = epochs.length * 2;
    this.#lefts = new Int32Array(size);
    this.#rights = new Int32Array(size);
    this.#epochs = new Int32Array(size);
    this.#mask = size - 1;
    this.#count = 0;
    for (let slot = 0; slot < epochs.length; slot++) {
      if (epochs[slot] === this.#epoch) this.add(lefts[slot] as number, rights[slot] as number);
    }
  }
}

/** Sets for reuse, one for each walk under way: walks may take turns. */
export class VisitedPool {
  readonly #free: VisitedSet[] = [];

  /** An empty set. */
  take(): VisitedSet {
    const visited = this.#free.pop() ?? new VisitedSet();
    visited.clear();
    return visited;
  }

  /** Returns a set. */
  give(visited: VisitedSet): void {
    this.#free.push(visited);
  }
}
