/** Lets so many at once do something; the others wait, in the order in which they came. */
export class Turns {
  readonly #most: number;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Resolves when it is one's turn, which must be ended.
   *
   * @throws the reason of a signal that aborts until then
   */
  async begin(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#most) {
      this.#taken++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.delete(begin);
        reject(signal.reason);
      };
      this.#waiting.add(begin);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** One's turn is over: the next one has it. */
  end(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      return next();
    }
    this.#taken--;
  }
}
