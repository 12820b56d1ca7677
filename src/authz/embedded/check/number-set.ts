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

  /** Adds one; false where it was there. */
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
