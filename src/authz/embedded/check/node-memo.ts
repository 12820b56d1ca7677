import { hashPair } from "../graph/pair-table.ts";

/** How many integers an entry takes: object, node, epoch and value. */
const ENTRY = 4;
/** A value that means none, so that removed entries need no tombstones. */
const FORGOTTEN = -1;

/** The results of nodes of objects during a check; cleared in constant time, by a new epoch. */
export class NodeMemo {
  #entries = new Int32Array(ENTRY * 64);
  #mask = 63;
  #epoch = 1;
  #count = 0;

  /** Empties it. */
  clear(): void {
    if (this.#count === 0) return;
    this.#count = 0;
    if (++this.#epoch === 0x7fffffff) {
      this.#entries.fill(0);
      this.#epoch = 1;
    }
  }

  /** The value, or -1. */
  get(object: number, node: number): number {
    const at = this.#find(object, node);
    return this.#entries[at + 2] === this.#epoch ? (this.#entries[at + 3] as number) : FORGOTTEN;
  }

  /** Sets a value of 0 or more. */
  set(object: number, node: number, value: number): void {
    const at = this.#find(object, node);
    const isNew = this.#entries[at + 2] !== this.#epoch;
    this.#entries[at] = object;
    this.#entries[at + 1] = node;
    this.#entries[at + 2] = this.#epoch;
    this.#entries[at + 3] = value;
    if (isNew && ++this.#count * 2 > this.#mask) this.#grow();
  }

  /** Removes a value. */
  forget(object: number, node: number): void {
    this.set(object, node, FORGOTTEN);
  }

  /** Where the entry is, or would be. */
  #find(object: number, node: number): number {
    const entries = this.#entries;
    for (let slot = hashPair(object, node) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = slot * ENTRY;
      if (entries[at + 2] !== this.#epoch) return at;
      if (entries[at] === object && entries[at + 1] === node) return at;
    }
  }

  #grow(): void {
    const old = this.#entries;
    this.#mask = this.#mask * 2 + 1;
    this.#entries = new Int32Array(ENTRY * (this.#mask + 1));
    for (let at = 0; at < old.length; at += ENTRY) {
      if (old[at + 2] !== this.#epoch) continue;
      this.#entries.set(
        old.subarray(at, at + ENTRY),
        this.#find(old[at] as number, old[at + 1] as number),
      );
    }
  }
}
