const MIN_CLASS = 0;

/**
 * Many lists of integers in one pool: no object for each list, which at a
 * million of them would cost more than what they hold. A list is named by a
 * small integer; capacities are powers of two, and given up ones are used again.
 */
export class IntLists {
  /** Where the items of a list begin in `pool`, and how many they are, side by side. */
  #heads = new Int32Array(2048);
  pool = new Int32Array(4096);
  #classes = new Int8Array(1024).fill(-1);
  #used = 0;
  readonly #free: number[][] = [];

  /** How many items the list has. */
  length(list: number): number {
    return list * 2 < this.#heads.length ? (this.#heads[list * 2 + 1] as number) : 0;
  }

  /** Where the items of a list that has some begin in `pool`. */
  offset(list: number): number {
    return this.#heads[list * 2] as number;
  }

  /** Appends, and returns the position in the list. */
  push(list: number, item: number): number {
    if (list * 2 >= this.#heads.length) this.#growLists(list);
    const length = this.#heads[list * 2 + 1] as number;
    const sizeClass = this.#classes[list] as number;
    if (sizeClass < 0) this.#move(list, MIN_CLASS);
    else if (length === 1 << sizeClass) this.#move(list, sizeClass + 1);
    this.pool[this.offset(list) + length] = item;
    this.#heads[list * 2 + 1] = length + 1;
    return length;
  }

  /** Removes the item at a position by putting the last one there; returns that one, or -1 where it was the last. */
  swapRemove(list: number, position: number): number {
    const last = this.length(list) - 1;
    const offset = this.offset(list);
    const moved = this.pool[offset + last] as number;
    this.pool[offset + position] = moved;
    this.#heads[list * 2 + 1] = last;
    if (last === 0) this.#release(list);
    return position === last ? -1 : moved;
  }

  #move(list: number, sizeClass: number): void {
    const offset = this.#allocate(sizeClass);
    const from = this.offset(list);
    const length = this.#heads[list * 2 + 1] as number;
    if (length > 0) this.pool.copyWithin(offset, from, from + length);
    this.#release(list);
    this.#heads[list * 2] = offset;
    this.#classes[list] = sizeClass;
  }

  #release(list: number): void {
    const sizeClass = this.#classes[list] as number;
    if (sizeClass < 0) return;
    this.#free[sizeClass] ??= [];
    this.#free[sizeClass].push(this.offset(list));
    this.#classes[list] = -1;
  }

  #allocate(sizeClass: number): number {
    const again = this.#free[sizeClass]?.pop();
    if (again !== undefined) return again;
    const offset = this.#used;
    this.#used += 1 << sizeClass;
    if (this.#used > this.pool.length) {
      const pool = new Int32Array(Math.max(this.#used, Math.ceil(this.pool.length * 1.5)));
      pool.set(this.pool);
      this.pool = pool;
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
