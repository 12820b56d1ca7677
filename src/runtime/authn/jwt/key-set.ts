import type { Logger } from "../../../common/logger.ts";
import { within } from "../../../common/within.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { RuntimeEvents } from "../../events/runtime-events.ts";
import type { VerificationKey } from "./verification-key.ts";

/** What a key set needs. */
export interface KeySetOptions {
  readonly load: () => Promise<readonly VerificationKey[]>;
  /** How long keys are used without being read again. */
  readonly ttlMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly events: RuntimeEvents;
  readonly logger: Logger;
}

/** How long a call waits for a provider while the cached keys have just expired. */
const PATIENCE_MS = 1000;
/**
 * How long calls wait without usable keys: less than a call may take, so that its response can say
 * that they are unavailable.
 */
const PATIENCE_WITHOUT_MS = 3000;

/** The keys of a provider, cached and refreshed in time; all waiting calls share one read. */
export class KeySet {
  readonly #options: KeySetOptions;
  readonly #age: KeySetAge;
  #keys: ReadonlyMap<string, VerificationKey> = new Map();
  #loading: Promise<void> | undefined;
  /** When the reading under way began, in milliseconds of `performance.now()`. */
  #loadingSince = 0;

  constructor(options: KeySetOptions) {
    this.#options = options;
    this.#age = new KeySetAge(options.ttlMs);
    options.events.expect("cache", "jwks");
  }

  /**
   * Whether the keys can be used without waiting. They are refreshed in the background before they
   * expire.
   */
  isFresh(): boolean {
    const now = this.#options.now();
    if (!this.#age.isFresh(now)) return false;
    if (this.#age.isDue(now)) void this.#load().catch(() => undefined);
    return true;
  }

  /** Whether the provider still has this key. */
  holds(key: VerificationKey): boolean {
    return this.#keys.get(key.fingerprint) === key;
  }

  /**
   * Brings the keys up to date.
   *
   * @throws ServiceError UNAVAILABLE if there are none, or they are far too old
   */
  async refresh(): Promise<void> {
    if (this.isFresh()) return;
    const { now } = this.#options;
    const isUsable = this.#age.isUsable(now());
    if (this.#loading === undefined && this.#age.isResting(now())) {
      if (isUsable) return;
      throw new ServiceError("UNAVAILABLE");
    }
    if (isUsable) {
      const loaded = this.#load().catch(() => undefined);
      await within(loaded, PATIENCE_MS, () => undefined);
    } else await this.#loaded();
  }

  /**
   * The key of a token. If it is unknown, the provider is asked again, but not for each token of a
   * flood.
   *
   * @returns undefined if the provider has no such key
   * @throws ServiceError UNAVAILABLE if the provider cannot be asked now
   */
  async find(keyId: string | undefined, algorithm: string): Promise<VerificationKey | undefined> {
    const { now, events } = this.#options;
    const before = this.#age.loadedAt;
    await this.refresh();
    const known = this.#select(keyId, algorithm);
    events.cache("jwks", known === undefined || this.#age.loadedAt !== before ? "miss" : "hit");
    if (known !== undefined || this.#age.loadedAt !== before) return known;
    if (this.#loading === undefined && !this.#age.mayAskForUnknown(now())) {
      if (this.#age.hasFailed) throw new ServiceError("UNAVAILABLE");
      return undefined;
    }
    await this.#loaded();
    return this.#select(keyId, algorithm);
  }

  /** A token without a key id is accepted only if exactly one key fits. */
  #select(keyId: string | undefined, algorithm: string): VerificationKey | undefined {
    const fitting: VerificationKey[] = [];
    for (const key of this.#keys.values()) {
      if (key.algorithms.has(algorithm) && (keyId === undefined || key.keyId === keyId)) {
        fitting.push(key);
      }
    }
    return fitting.length === 1 ? fitting[0] : undefined;
  }

  /**
   * Waits until the keys are read, but not long for a silent provider: the read continues, and
   * later calls do not wait again.
   */
  async #loaded(): Promise<void> {
    const loaded = this.#load();
    const rest = this.#loadingSince + PATIENCE_WITHOUT_MS - performance.now();
    await within(loaded, Math.max(0, rest), () => {
      throw new ServiceError("UNAVAILABLE");
    });
  }

  #load(): Promise<void> {
    if (this.#loading === undefined) this.#loadingSince = performance.now();
    this.#loading ??= this.#loadNow().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #loadNow(): Promise<void> {
    const { load, now, logger } = this.#options;
    this.#age.begin(now());
    try {
      const keys = await load();
      const known = this.#keys;
      // An unchanged key stays the same object, so that tokens verified with it stay cached.
      this.#keys = new Map(
        keys.map((key) => [key.fingerprint, known.get(key.fingerprint) ?? key] as const),
      );
      this.#age.succeed(now());
      if (keys.length === 0) logger.warn({}, "the provider has no usable key");
    } catch (error) {
      this.#age.fail();
      logger.warn({ error }, "the keys of the provider cannot be read");
      throw new ServiceError("UNAVAILABLE", undefined, { cause: error });
    }
  }
}

/** The fraction of their lifetime after which keys are refreshed in the background. */
const DUE = 0.8;
/** How long the provider is not asked after a failure. */
const REST_MS = 5000;
/** How long it is not asked again for keys that it did not have. */
const UNKNOWN_REST_MS = 30_000;

/** When the keys of a provider were read, and when they may be read again. Times are milliseconds since the epoch. */
class KeySetAge {
  /** When they were read; undefined if they never were. */
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

  /** Whether it is time to refresh them, although they are fresh. */
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

  /** Whether the provider may be asked for an unknown key; if so, it counts as asked. */
  mayAskForUnknown(now: number): boolean {
    this.#follow(now);
    if (now - this.#askedAt < UNKNOWN_REST_MS) return false;
    this.#askedAt = now;
    return true;
  }

  /**
   * If the clock was set back, ages start again: otherwise keys would be used longer by that time.
   */
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
