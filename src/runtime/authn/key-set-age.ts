/** From which part of their time on keys are read anew while the old ones serve. */
const DUE = 0.8;
/** How long the provider is left alone after it has failed. */
const REST_MS = 5000;
/** How long it is not asked again for keys that it did not have. */
const UNKNOWN_REST_MS = 30_000;

/** When the keys of a provider were read, and when they may be read again. Times are milliseconds since the epoch. */
export class KeySetAge {
  /** When they were read; undefined where they never were. */
  loadedAt: number | undefined;
  /** Whether the last attempt failed. */
  hasFailed = false;
  readonly #ttl: number;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(ttl: number) {
    this.#ttl = ttl;
  }

  begin(now: number): void {
    this.#attemptedAt = now;
  }

  succeed(now: number): void {
    this.loadedAt = now;
    this.hasFailed = false;
  }

  fail(): void {
    this.hasFailed = true;
  }

  isFresh(now: number): boolean {
    return this.#isWithin(now, this.#ttl);
  }

  /** Whether it is time to read them anew, though they are fresh. */
  isDue(now: number): boolean {
    return !this.#isWithin(now, this.#ttl * DUE) && !this.isResting(now);
  }

  /** Whether they may still be used while the provider cannot be reached: as long again as they were fresh. */
  isUsable(now: number): boolean {
    return this.#isWithin(now, this.#ttl * 2);
  }

  /** Whether the provider has failed just now. */
  isResting(now: number): boolean {
    this.#follow(now);
    return this.hasFailed && now - this.#attemptedAt < REST_MS;
  }

  /** Whether the provider may be asked for a key that is not known; it counts as asked then. */
  mayAskForUnknown(now: number): boolean {
    this.#follow(now);
    if (now - this.#askedAt < UNKNOWN_REST_MS) return false;
    this.#askedAt = now;
    return true;
  }

  /** Where the clock was put back, ages begin anew: else keys would serve as long as it went back. */
  #follow(now: number): void {
    if (this.loadedAt !== undefined) this.loadedAt = Math.min(this.loadedAt, now);
    this.#attemptedAt = Math.min(this.#attemptedAt, now);
    this.#askedAt = Math.min(this.#askedAt, now);
  }

  #isWithin(now: number, time: number): boolean {
    this.#follow(now);
    return this.loadedAt !== undefined && now < this.loadedAt + time;
  }
}
