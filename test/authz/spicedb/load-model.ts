/** The possible values of a boolean fact, given its acknowledged writes and those with an unknown outcome. */
export class Fact {
  readonly #possible: Set<boolean>;
  readonly #checks = new Set<Set<boolean>>();
  /** Whether the outcome of a write of it is unknown; such a fact is not written again. */
  inDoubt = false;

  constructor(value: boolean) {
    this.#possible = new Set([value]);
  }

  /** Its last written value, if that is known. */
  get value(): boolean {
    return this.#possible.has(true);
  }

  /** Whether it may have this value. */
  allows(value: boolean): boolean {
    return this.#possible.has(value);
  }

  /** Writes it: until the write is acknowledged, both values are possible. */
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

  /** Checks it: whether the answer was possible at some time during the check. */
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
