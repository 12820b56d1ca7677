import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { availableParallelism } from "node:os";
import { promisify } from "node:util";
import { WorkQueue } from "../../../ground/queue/work-queue.ts";
import { formatHash, type HashCost, type PasswordHash, parseHash } from "./hash-text.ts";

/** OWASP's recommendation of 2024. */
const COST: HashCost = { memory: 19 * 1024, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Of the four threads of Node's pool, which files and name look-ups need too. */
const AT_ONCE = Math.min(availableParallelism(), 3);
const MAY_WAIT = 64;

const derive = promisify(argon2);

/** The result of comparing a password with a hash. */
export interface PasswordMatch {
  readonly matches: boolean;
  /** Whether the hash was made at another cost, and should be replaced where the password matches. */
  readonly isOutdated: boolean;
}

/**
 * Hashes passwords by argon2id, off the event loop and behind a bounded queue.
 *
 * @throws QueueFullError of each method, where too many wait
 */
export class PasswordHasher {
  readonly #cost: HashCost;
  readonly #queue: WorkQueue;
  /** Compared with where there is no account, so that its absence takes as long. */
  readonly #decoy: PasswordHash;

  /** @param cost of new hashes; a lower one than the default is for tests */
  constructor(cost: HashCost = COST, queue: WorkQueue = new WorkQueue(AT_ONCE, MAY_WAIT)) {
    this.#cost = cost;
    this.#queue = queue;
    this.#decoy = { cost, salt: randomBytes(SALT_BYTES), hash: randomBytes(HASH_BYTES) };
  }

  /** The text to store: the parameters, the salt and the hash. */
  async hash(password: string, signal?: AbortSignal): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const hash = await this.#derive(
      password,
      { cost: this.#cost, salt, length: HASH_BYTES },
      signal,
    );
    return formatHash({ cost: this.#cost, salt, hash });
  }

  /**
   * Compares a password with a stored hash, in the same time whether there is one or not.
   *
   * @param stored undefined where there is no account, or it has no password
   * @throws TypeError where the stored text is not a hash of this program
   */
  async matches(
    password: string,
    stored: string | undefined,
    signal?: AbortSignal,
  ): Promise<PasswordMatch> {
    const expected = stored === undefined ? this.#decoy : parseHash(stored);
    const { cost, salt, hash } = expected;
    const found = await this.#derive(password, { cost, salt, length: hash.length }, signal);
    const matches = timingSafeEqual(found, hash) && stored !== undefined;
    return { matches, isOutdated: !isSameCost(cost, this.#cost) };
  }

  #derive(
    password: string,
    { cost, salt, length }: { cost: HashCost; salt: Buffer; length: number },
    signal: AbortSignal | undefined,
  ): Promise<Buffer> {
    return this.#queue.run(
      () =>
        derive("argon2id", {
          // The same characters can be typed in several ways (RFC 8265, OpaqueString).
          message: password.normalize("NFC"),
          nonce: salt,
          parallelism: cost.parallelism,
          tagLength: length,
          memory: cost.memory,
          passes: cost.passes,
        }),
      signal,
    );
  }
}

function isSameCost(left: HashCost, right: HashCost): boolean {
  return (
    left.memory === right.memory &&
    left.passes === right.passes &&
    left.parallelism === right.parallelism
  );
}
