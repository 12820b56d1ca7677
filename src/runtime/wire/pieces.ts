/** So many pieces become one: each costs more than a hundred bytes, however short it is. */
const JOINED_AT = 1024;

const NOTHING: Buffer = Buffer.alloc(0);

/** Bytes that come in pieces of any size, and are wanted as a whole: each is copied twice at most. */
export class Pieces {
  #joined: Buffer[] = [];
  #loose: Buffer[] = [];
  #size = 0;

  /** How many bytes there are. */
  get size(): number {
    return this.#size;
  }

  push(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#loose.push(piece) < JOINED_AT) return;
    this.#joined.push(Buffer.concat(this.#loose));
    this.#loose = [];
  }

  /** All of them as one, which they are from now on. */
  whole(): Buffer {
    const all = this.#joined.length === 0 ? this.#loose : [...this.#joined, ...this.#loose];
    const whole = all.length < 2 ? (all[0] ?? NOTHING) : Buffer.concat(all, this.#size);
    this.#joined = [];
    this.#loose = this.#size === 0 ? [] : [whole];
    return whole;
  }

  /** Keeps only what comes after so many bytes. */
  drop(bytes: number): void {
    const rest = this.whole().subarray(bytes);
    this.clear();
    if (rest.length > 0) this.push(rest);
  }

  clear(): void {
    this.#joined = [];
    this.#loose = [];
    this.#size = 0;
  }
}
