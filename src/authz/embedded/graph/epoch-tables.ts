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

  /** Adds a pair; false if it was there. */
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

/** A set of integers in insertion order; cleared in constant time, by a new epoch. */
export class NumberSet {
  #items = new Int32Array(64);
  /** Open addressing: an item and its epoch, side by side. */
  #slots = new Int32Array(2 * 128);
  #mask = 127;
  #epoch = 1;
  #count = 0;

  /** How many there are. */
  get size(): number {
    return this.#count;
  }

  /** The one at a position below the size. */
  at(position: number): number {
    return this.#items[position] as number;
  }

  /** Empties the set. */
  clear(): void {
    this.#count = 0;
    if (++this.#epoch === 0x7fffffff) {
      this.#slots.fill(0);
      this.#epoch = 1;
    }
  }

  has(item: number): boolean {
    const slots = this.#slots;
    for (let slot = hash(item) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      if (slots[slot * 2 + 1] !== this.#epoch) return false;
      if (slots[slot * 2] === item) return true;
    }
  }

  /** Adds one; false if it was there. */
  add(item: number): boolean {
    const slots = this.#slots;
    let slot = hash(item) & this.#mask;
    for (; slots[slot * 2 + 1] === this.#epoch; slot = (slot + 1) & this.#mask) {
      if (slots[slot * 2] === item) return false;
    }
    slots[slot * 2] = item;
    slots[slot * 2 + 1] = this.#epoch;
    this.#items[this.#count++] = item;
    if (this.#count === this.#items.length) this.#grow();
    return true;
  }

  #grow(): void {
    const items = new Int32Array(this.#count * 2);
    items.set(this.#items);
    this.#items = items;
    this.#mask = this.#mask * 2 + 1;
    this.#slots = new Int32Array(2 * (this.#mask + 1));
    this.#epoch = 1;
    const count = this.#count;
    this.#count = 0;
    for (let position = 0; position < count; position++) this.add(items[position] as number);
  }
}

function hash(item: number): number {
  const mixed = Math.imul(item, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

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
