import { grown } from "./int-lists.ts";

/** Mixes two integers into a hash. */
export function hashPair(left: number, right: number): number {
  let hash = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}

const SLOT = 3;

/**
 * Numbers pairs of integers: each pair has a number, from 0 and without gaps, and open addressing
 * over typed arrays finds it. Removed numbers are reused.
 */
export class PairTable {
  /** Left and right of each pair, side by side: one line of the processor's cache holds both. */
  #entries = new Int32Array(2048);
  /** Three a slot: a number plus one, 0 if it is empty, and the pair again, so that a look-up touches one place only. */
  #slots = new Int32Array(SLOT * 2048);
  #mask = 2047;
  #next = 0;
  #count = 0;
  readonly #free: number[] = [];

  /** One more than the highest number ever given. */
  get end(): number {
    return this.#next;
  }

  /** How many pairs there are. */
  get size(): number {
    return this.#count;
  }

  /** The left of a pair; -1 if it was removed. */
  left(number: number): number {
    return this.#entries[number * 2] as number;
  }

  right(number: number): number {
    return this.#entries[number * 2 + 1] as number;
  }

  /** The number of a pair, or -1. */
  find(left: number, right: number): number {
    const mask = this.#mask;
    const slots = this.#slots;
    for (let slot = hashPair(left, right) & mask; ; slot = (slot + 1) & mask) {
      const at = slot * SLOT;
      const number = (slots[at] as number) - 1;
      if (number < 0 || (slots[at + 1] === left && slots[at + 2] === right)) return number;
    }
  }

  /** Adds a pair, and returns its number; -1 if it was there. */
  add(left: number, right: number): number {
    if (this.find(left, right) >= 0) return -1;
    const number = this.#free.pop() ?? this.#next++;
    this.#entries = grown(this.#entries, number * 2 + 2);
    this.#entries[number * 2] = left;
    this.#entries[number * 2 + 1] = right;
    this.#count++;
    if (this.#count * 2 > this.#mask) this.#rehash();
    else this.#place(number);
    return number;
  }

  /** Removes a pair; its number may be reused. */
  remove(number: number): void {
    const mask = this.#mask;
    const slots = this.#slots;
    let hole = hashPair(this.left(number), this.right(number)) & mask;
    while (slots[hole * SLOT] !== number + 1) hole = (hole + 1) & mask;
    // Backward shift: entries that the removed one displaced move up, so no tombstones remain.
    for (let slot = (hole + 1) & mask; slots[slot * SLOT] !== 0; slot = (slot + 1) & mask) {
      const at = slot * SLOT;
      const hash = hashPair(slots[at + 1] as number, slots[at + 2] as number);
      if (((slot - hash) & mask) < ((slot - hole) & mask)) continue;
      slots.copyWithin(hole * SLOT, at, at + SLOT);
      hole = slot;
    }
    slots.fill(0, hole * SLOT, (hole + 1) * SLOT);
    this.#entries[number * 2] = -1;
    this.#entries[number * 2 + 1] = -1;
    this.#count--;
    this.#free.push(number);
  }

  #place(number: number): void {
    const left = this.left(number);
    const right = this.right(number);
    let slot = hashPair(left, right) & this.#mask;
    while (this.#slots[slot * SLOT] !== 0) slot = (slot + 1) & this.#mask;
    this.#slots[slot * SLOT] = number + 1;
    this.#slots[slot * SLOT + 1] = left;
    this.#slots[slot * SLOT + 2] = right;
  }

  #rehash(): void {
    this.#mask = this.#mask * 2 + 1;
    this.#slots = new Int32Array(SLOT * (this.#mask + 1));
    for (let number = 0; number < this.#next; number++) {
      if (this.left(number) !== -1) this.#place(number);
    }
  }
}
