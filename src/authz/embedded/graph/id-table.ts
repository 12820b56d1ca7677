import { randomInt } from "node:crypto";

/** What comes before the text of an id in the pool: its number, low and high, and its length, low and high. */
const HEADER = 4;
/** Different in each process, so that nobody can prepare ids that collide. */
const SEED = randomInt(0x7fffffff);

/**
 * Numbers by id, for millions of ids: a hash table over typed arrays, with the
 * text of all ids in one pool. A look-up touches two places of memory, where a
 * `Map` of strings touches five, and the garbage collector has nothing to trace.
 */
export class IdTable {
  /** Two a slot: a hash, and where the id is in the pool plus one; 0 if it is empty. */
  #slots = new Int32Array(2 * 64);
  #mask = 63;
  #pool = new Uint16Array(1024);
  #used = 0;
  #count = 0;

  /** The number of an id, or -1; also for a value that is not text. */
  find(id: string): number {
    if (typeof id !== "string") return -1;
    const hash = hashText(id);
    for (let slot = hash & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = (this.#slots[slot * 2 + 1] as number) - 1;
      if (at < 0) return -1;
      if (this.#slots[slot * 2] === hash && this.#isAt(at, id)) return this.#pair(at);
    }
  }

  /** Adds an id that is not there; returns where `idAt` finds it. */
  add(id: string, number: number): number {
    if (++this.#count * 2 > this.#mask) this.#rehash();
    const at = this.#used;
    this.#used += HEADER + id.length;
    if (this.#used > this.#pool.length) {
      const pool = new Uint16Array(Math.max(this.#used, Math.ceil(this.#pool.length * 1.4)));
      pool.set(this.#pool);
      this.#pool = pool;
    }
    this.#setPair(at, number);
    this.#setPair(at + 2, id.length);
    for (let index = 0; index < id.length; index++) {
      this.#pool[at + HEADER + index] = id.charCodeAt(index);
    }
    this.#place(hashText(id), at);
    return at;
  }

  /** The id at a place that `add` returned. */
  idAt(at: number): string {
    const begin = at + HEADER;
    const units = this.#pool.subarray(begin, begin + this.#pair(at + 2));
    return String.fromCharCode.apply(undefined, units as unknown as number[]);
  }

  /** Compares the ids at two places as their texts: less than 0 if the left one comes first. */
  compareAt(left: number, right: number): number {
    const pool = this.#pool;
    const leftLength = this.#pair(left + 2);
    const rightLength = this.#pair(right + 2);
    const end = HEADER + Math.min(leftLength, rightLength);
    for (let index = HEADER; index < end; index++) {
      const difference = (pool[left + index] as number) - (pool[right + index] as number);
      if (difference !== 0) return difference;
    }
    return leftLength - rightLength;
  }

  #isAt(at: number, id: string): boolean {
    if (this.#pair(at + 2) !== id.length) return false;
    const pool = this.#pool;
    for (let index = 0; index < id.length; index++) {
      if (pool[at + HEADER + index] !== id.charCodeAt(index)) return false;
    }
    return true;
  }

  #pair(at: number): number {
    return (this.#pool[at] as number) | ((this.#pool[at + 1] as number) << 16);
  }

  #setPair(at: number, value: number): void {
    this.#pool[at] = value & 0xffff;
    this.#pool[at + 1] = value >>> 16;
  }

  #place(hash: number, at: number): void {
    let slot = hash & this.#mask;
    while (this.#slots[slot * 2 + 1] !== 0) slot = (slot + 1) & this.#mask;
    this.#slots[slot * 2] = hash;
    this.#slots[slot * 2 + 1] = at + 1;
  }

  #rehash(): void {
    const old = this.#slots;
    this.#mask = this.#mask * 2 + 1;
    this.#slots = new Int32Array(2 * (this.#mask + 1));
    for (let slot = 0; slot < old.length; slot += 2) {
      if (old[slot + 1] !== 0) this.#place(old[slot] as number, (old[slot + 1] as number) - 1);
    }
  }
}

function hashText(text: string): number {
  let hash = SEED;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  return Math.imul(hash ^ (hash >>> 16), 0x9e3779b1) ^ (hash >>> 15);
}
