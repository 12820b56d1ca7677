/** What one yes-or-no fact may be, by the writes that were acknowledged and those in doubt. */
export class Fact {
  readonly #possible: Set<boolean>;
  readonly #checks = new Set<Set<boolean>>();
  /** Whether a write of it failed without saying what became of it; such a fact is written no more. */
  inDoubt = false;

  constructor(value: boolean) {
    this.#possible = new Set([value]);
  }

  /** What it was last written to be, where that is known. */
  get value(): boolean {
    return this.#possible.has(true);
  }

  /** Whether it may be so. */
  allows(value: boolean): boolean {
    return this.#possible.has(value);
  }

  /** Writes it: both are possible until the write is acknowledged, and for ever where it is not. */
  async write(value: boolean, write: () => Promise<unknown>): Promise<void> {
    this.#possible.add(value);
    for (const check of this.#checks) check.add(value);
    try {
      await write();
    } catch (error) {
      this.inDoubt = true;
      throw error;
    }
    this.#possible.clear();
    this.#possible.add(value);
  }

  /** Checks it: whether the answer is one of those possible at any time while it was asked. */
  async check(check: () => Promise<boolean>): Promise<boolean> {
    const possible = new Set(this.#possible);
    this.#checks.add(possible);
    try {
      return possible.has(await check());
    } finally {
      this.#checks.delete(possible);
    }
  }
}
