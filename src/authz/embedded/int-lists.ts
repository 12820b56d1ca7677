/** Lists of two items are the shortest in the pool; a single one is kept in the head. */
const MIN_CLASS = 1;

/**
 * Many lists of integers in one pool: no object for each list, which at a
 * million of them would cost more than what they hold. A list is named by a
 * small integer; capacities are powers of two, and given up ones are used
 * again. Most lists have one item, so that one is where a list's length is:
 * reading it touches one place of memory instead of two.
 */
export class IntLists {
  /** Where the items of a list begin in the pool, or its only item, and how many they are, side by side. */
  #heads = new Int32Array(2048);
  #pool = new Int32Array(4096);
  #classes = new Int8Array(1024).fill(-1);
  #used = 0;
  readonly #free: number[][] = [];

  /** How many items the list has. */
  length(list: number): number {
    return list * 2 < this.#heads.length ? (this.#heads[list * 2 + 1] as number) : 0;
  }

  /** The item at a position below the length. */
  item(list: number, position: number): number {
    const head = this.#heads[list * 2] as number;
    return this.#heads[list * 2 + 1] === 1 ? head : (this.#pool[head + position] as number);
  }

  /** Whether the list holds an item. */
  includes(list: number, item: number): boolean {
    const length = this.length(list);
    const head = this.#heads[list * 2] as number;
    if (length <= 1) return length === 1 && head === item;
    for (let at = head; at < head + length; at++) if (this.#pool[at] === item) return true;
    return false;
  }

  /** Appends, and returns the position in the list. */
  push(list: number, item: number): number {
    if (list * 2 >= this.#heads.length) this.#growLists(list);
    const length = this.#heads[list * 2 + 1] as number;
    if (length === 0) this.#heads[list * 2] = item;
    else {
      const sizeClass = this.#classes[list] as number;
      if (length === 1) this.#moveOut(list);
      else if (length === 1 << sizeClass) this.#move(list, sizeClass + 1);
      this.#pool[(this.#heads[list * 2] as number) + length] = item;
    }
    this.#heads[list * 2 + 1] = length + 1;
    return length;
  }

  /** Removes the item at a position by putting the last one there; returns that one, or -1 where it was the last. */
  swapRemove(list: number, position: number): number {
    const last = this.length(list) - 1;
    this.#heads[list * 2 + 1] = last;
    if (last === 0) return -1;
    const offset = this.#heads[list * 2] as number;
    const moved = this.#pool[offset + last] as number;
    this.#pool[offset + position] = moved;
    if (last === 1) {
      const only = this.#pool[offset] as number;
      this.#release(list, offset);
      this.#heads[list * 2] = only;
    }
    return position === last ? -1 : moved;
  }

  /** Moves the only item of a list to the pool. */
  #moveOut(list: number): void {
    const only = this.#heads[list * 2] as number;
    const offset = this.#allocate(MIN_CLASS);
    this.#pool[offset] = only;
    this.#heads[list * 2] = offset;
    this.#classes[list] = MIN_CLASS;
  }

  #move(list: number, sizeClass: number): void {
    const offset = this.#allocate(sizeClass);
    const from = this.#heads[list * 2] as number;
    const length = this.#heads[list * 2 + 1] as number;
    this.#pool.copyWithin(offset, from, from + length);
    this.#release(list, from);
    this.#heads[list * 2] = offset;
    this.#classes[list] = sizeClass;
  }

  #release(list: number, offset: number): void {
    const sizeClass = this.#classes[list] as number;
    this.#free[sizeClass] ??= [];
    this.#free[sizeClass].push(offset);
    this.#classes[list] = -1;
  }

  #allocate(sizeClass: number): number {
    const again = this.#free[sizeClass]?.pop();
    if (again !== undefined) return again;
    const offset = this.#used;
    this.#used += 1 << sizeClass;
    if (this.#used > this.#pool.length) {
      const pool = new Int32Array(Math.max(this.#used, Math.ceil(this.#pool.length * 1.5)));
      pool.set(this.#pool);
      this.#pool = pool;
    }
    return offset;
  }

  #growLists(list: number): void {
    const size = Math.max(list + 1, Math.ceil(this.#heads.length * 0.75));
    const heads = new Int32Array(size * 2);
    heads.set(this.#heads);
    const classes = new Int8Array(size).fill(-1);
    classes.set(this.#classes);
    this.#heads = heads;
    this.#classes = classes;
  }
}
