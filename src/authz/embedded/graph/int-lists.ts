/** Lists of two items are the shortest in the pool; a single one is kept in the head. */
const MIN_CLASS = 1;
/** How many bits of a list's second head hold its capacity; the bits above hold its length. */
const CLASS_BITS = 5;
const CLASS_MASK = (1 << CLASS_BITS) - 1;

/**
 * Many lists of integers in one pool, without an object for each list: a million objects would cost
 * more than the items. A small integer identifies a list; capacities are powers of two, and freed
 * space is reused. Most lists have one item, which is stored beside the length: reading it touches
 * one place of memory instead of two.
 */
export class IntLists {
  /** Where the items of a list begin in the pool, or its only item, and how many they are with the capacity, side by side. */
  #heads = new Int32Array(2048);
  #pool = new Int32Array(4096);
  #used = 0;
  readonly #free: number[][] = [];

  /** Makes room for the lists below a number; they are empty until something is pushed. */
  reserve(lists: number): void {
    this.#heads = grown(this.#heads, lists * 2);
  }

  /** The length of the list, which must exist. */
  length(list: number): number {
    return (this.#heads[list * 2 + 1] as number) >>> CLASS_BITS;
  }

  /** The item at a position below the length. */
  item(list: number, position: number): number {
    const head = this.#heads[list * 2] as number;
    return this.length(list) === 1 ? head : (this.#pool[head + position] as number);
  }

  /** Whether the list holds an item. */
  includes(list: number, item: number): boolean {
    const length = this.length(list);
    const head = this.#heads[list * 2] as number;
    if (length <= 1) return length === 1 && head === item;
    const pool = this.#pool;
    for (let at = head; at < head + length; at++) if (pool[at] === item) return true;
    return false;
  }

  /** Appends, and returns the position in the list. */
  push(list: number, item: number): number {
    const length = this.length(list);
    let sizeClass = this.#class(list);
    if (length === 0) this.#heads[list * 2] = item;
    else {
      if (length === 1) sizeClass = this.#moveOut(list);
      else if (length === 1 << sizeClass) sizeClass = this.#move(list, sizeClass);
      this.#pool[(this.#heads[list * 2] as number) + length] = item;
    }
    this.#heads[list * 2 + 1] = ((length + 1) << CLASS_BITS) | sizeClass;
    return length;
  }

  /** Removes the item at a position by putting the last one there; returns that one, or -1 if it was the last. */
  swapRemove(list: number, position: number): number {
    const last = this.length(list) - 1;
    const sizeClass = this.#class(list);
    this.#heads[list * 2 + 1] = (last << CLASS_BITS) | (last > 1 ? sizeClass : 0);
    if (last === 0) return -1;
    const offset = this.#heads[list * 2] as number;
    const moved = this.#pool[offset + last] as number;
    this.#pool[offset + position] = moved;
    if (last === 1) {
      this.#heads[list * 2] = this.#pool[offset] as number;
      this.#release(sizeClass, offset);
    }
    return position === last ? -1 : moved;
  }

  #class(list: number): number {
    return (this.#heads[list * 2 + 1] as number) & CLASS_MASK;
  }

  /** Moves the only item of a list to the pool. */
  #moveOut(list: number): number {
    const only = this.#heads[list * 2] as number;
    const offset = this.#allocate(MIN_CLASS);
    this.#pool[offset] = only;
    this.#heads[list * 2] = offset;
    return MIN_CLASS;
  }

  /** Moves a full list to a place with twice the capacity. */
  #move(list: number, sizeClass: number): number {
    const offset = this.#allocate(sizeClass + 1);
    const from = this.#heads[list * 2] as number;
    this.#pool.copyWithin(offset, from, from + (1 << sizeClass));
    this.#release(sizeClass, from);
    this.#heads[list * 2] = offset;
    return sizeClass + 1;
  }

  #release(sizeClass: number, offset: number): void {
    this.#free[sizeClass] ??= [];
    this.#free[sizeClass].push(offset);
  }

  #allocate(sizeClass: number): number {
    const again = this.#free[sizeClass]?.pop();
    if (again !== undefined) return again;
    const offset = this.#used;
    this.#used += 1 << sizeClass;
    this.#pool = grown(this.#pool, this.#used);
    return offset;
  }
}

/** The array if it has this capacity, else a longer copy. */
export function grown(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  if (length <= array.length) return array;
  const longer = new Int32Array(Math.max(length, 1024, Math.ceil(array.length * 1.4)));
  longer.set(array);
  return longer;
}
