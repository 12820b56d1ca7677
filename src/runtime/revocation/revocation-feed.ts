import { randomUUID } from "node:crypto";
import { type Clocks, SYSTEM_CLOCKS } from "../../common/observed-time.ts";
import type { RevocableToken, RevocationList } from "../authn/jwt/revocation-list.ts";
import { ServiceError } from "../error/service-error.ts";
import { checkRevocation } from "./check-revocation.ts";
import { EarliestTime } from "./earliest-time.ts";
import { News } from "./news.ts";
import { FORGET_EVERY_MS, HEARTBEAT_MS, MAX_BATCH, type Revocation } from "./revocation.ts";
import type { RevocationFeedOptions } from "./revocation-feed-options.ts";
import { entryOf, type RevocationFeedResponse, timeOf } from "./revocation-feed-response.ts";
import { RevocationLog } from "./revocation-log.ts";
import { RevocationSet } from "./revocation-set.ts";

/**
 * The feed of revocations, in one process: the part of `svc.iam.v1.IAMRevocationService` that
 * publishes them to those who watch. It holds all revocations that count, and a bounded log of the
 * latest ones for watchers that come back. A watcher whose position is not in the log, as after a
 * restart, gets all of them again.
 *
 * The store behind it is the service's own. Publish what other processes revoke as well, and say in
 * `isCurrent` whether the store could be read: the feed promises its watchers that nothing is
 * missing. To publish a revocation again has no effect, so rows that were read before may be read
 * again: a database may show a row after one with a higher number.
 *
 * A feed that has no room for a revocation is full: it refuses tokens and ends all watches, until
 * `recover` has published all that is stored.
 *
 * It is also the list of revocations for the service itself: give it to `createServer` and to
 * `createTokenVerifier`.
 *
 * @example
 * ```ts
 * async function serve(stored: Iterable<Revocation>): Promise<void> {
 *   let readAt = performance.now();
 *   const isCurrent = () => performance.now() - readAt < 5000;
 *   const feed = new RevocationFeed({ initial: stored, isCurrent });
 *   // The handler of the RPC WatchRevocations:
 *   const handler: ServerStreamingHandler<{ position: string }, RevocationFeedResponse> = (
 *     { position },
 *     { signal },
 *   ) => feed.watch(position, signal);
 *   // At a logout, when it is stored:
 *   feed.publish({ sessionId: "s-17", keepUntil: Date.now() + 3_600_000 });
 *   // Twice a second, what other processes have stored:
 *   readAt = performance.now();
 * }
 * ```
 */
export class RevocationFeed implements RevocationList {
  /** Begins every position: those of another feed, or of another process, are not known here. */
  readonly #id = randomUUID();
  readonly #clocks: Clocks;
  readonly #isCurrent: () => boolean;
  readonly #time: EarliestTime;
  readonly #set: RevocationSet;
  readonly #log: RevocationLog;
  readonly #news = new News();
  /** On the monotonic clock. */
  #forgetAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #isFull = false;
  /** How many revocations there was no room for. */
  #misses = 0;

  /** @throws TypeError for a revocation that is not valid; RangeError if there are too many */
  constructor({
    initial = [],
    capacity = 100_000,
    logCapacity = 10_000,
    isCurrent = () => true,
    clocks = SYSTEM_CLOCKS,
  }: RevocationFeedOptions = {}) {
    this.#clocks = clocks;
    this.#isCurrent = isCurrent;
    this.#time = new EarliestTime(clocks.monotonic);
    this.#set = new RevocationSet(capacity);
    this.#log = new RevocationLog(logCapacity);
    for (const revocation of initial) this.#add(revocation);
  }

  /** How many revocations it holds. */
  get size(): number {
    return this.#set.size;
  }

  /** Whether it misses a revocation, since it had no room for it. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /**
   * Notifies all watchers of a revocation, at once. One that is known already, or adds nothing to it,
   * has no effect.
   *
   * @throws TypeError if the revocation is not valid; RangeError if there is no room for it: none
   * that still counts is dropped for it, and the feed is full until `recover` returns true
   */
  publish(revocation: Revocation): void {
    if (!this.#add(revocation)) return;
    this.#log.push(revocation);
    this.#news.announce();
  }

  /**
   * Lets a full feed serve again: publishes all revocations that are stored, of which it may have
   * missed any. Call it now and then while `isFull`: there is room once others have expired.
   *
   * @param stored all revocations that count; read until there is no room for one
   * @returns whether the feed has all of them now; if not, it is still full
   */
  async recover(stored: Iterable<Revocation> | AsyncIterable<Revocation>): Promise<boolean> {
    const misses = this.#misses;
    for await (const revocation of stored) {
      try {
        this.publish(revocation);
      } catch (error) {
        if (error instanceof RangeError) return false;
        throw error;
      }
    }
    // What was published meanwhile may have had no room, and was perhaps not stored when this began.
    if (this.#misses === misses) this.#isFull = false;
    return !this.#isFull;
  }

  /**
   * Whether a token is revoked.
   *
   * @throws ServiceError UNAVAILABLE if the feed is full, or not current
   */
  isRevoked(token: RevocableToken): boolean {
    if (this.#set.isRevoked(token)) return true;
    if (this.#isFull) throw full();
    if (!this.#isCurrent()) throw new ServiceError("UNAVAILABLE", "revocations cannot be read");
    return false;
  }

  /**
   * The responses of a call of WatchRevocations: the revocations since a position, or all of them,
   * then each new one. Without news, a response without revocations comes every two seconds. It ends
   * with the signal; a slow reader gets all revocations again rather than a gap.
   *
   * @param position of the request
   * @param signal of the call
   * @throws ServiceError UNAVAILABLE once the feed is closed, and while it is full
   */
  async *watch(position: string, signal: AbortSignal): AsyncGenerator<RevocationFeedResponse> {
    let next = this.#numberOf(position);
    while (!signal.aborted) {
      if (this.#isClosed) throw closed();
      if (this.#isFull) throw full();
      const missed = next === undefined ? undefined : this.#log.after(next);
      if (next === undefined || missed === undefined) {
        next = this.#log.head;
        yield* this.#snapshot(next);
      } else {
        next += missed.length;
        yield this.#response(missed, next);
      }
      const isWaiting = next === this.#log.head && !this.#isClosed && !this.#isFull;
      if (isWaiting) await this.#news.next(HEARTBEAT_MS, signal);
    }
  }

  /**
   * Ends all watches with UNAVAILABLE, and refuses new ones: watchers then go to another process. Call it
   * when the server begins to stop (`onStopping`), which otherwise waits for them. Calls under way still
   * learn from `isRevoked` whether their tokens are revoked.
   */
  close(): void {
    this.#isClosed = true;
    this.#news.announce();
  }

  /** The number of the last revocation that a watcher has; undefined if it must get all of them. */
  #numberOf(position: string): number | undefined {
    const [, id, digits] = /^(.{36})\.(\d{1,15})$/.exec(position) ?? [];
    const number = Number(digits);
    return id === this.#id && number <= this.#log.head ? number : undefined;
  }

  /**
   * All revocations of this moment, without a copy of them: what changes meanwhile is in the log,
   * so it follows whether or not the snapshot has it.
   */
  *#snapshot(head: number): Generator<RevocationFeedResponse> {
    let snapshotBegin = true;
    let batch: Revocation[] = [];
    for (const revocation of this.#set) {
      if (batch.length === MAX_BATCH) {
        yield { ...this.#response(batch, head), snapshotBegin, position: "", current: false };
        snapshotBegin = false;
        batch = [];
      }
      batch.push(revocation);
    }
    yield { ...this.#response(batch, head), snapshotBegin };
  }

  #response(revocations: readonly Revocation[], number: number): RevocationFeedResponse {
    return {
      position: `${this.#id}.${number}`,
      snapshotBegin: false,
      revocations: revocations.map(entryOf),
      current: number === this.#log.head && this.#isCurrent(),
      time: timeOf(this.#clocks.now()),
    };
  }

  #forget(): void {
    this.#forgetAt = this.#clocks.monotonic() + FORGET_EVERY_MS;
    this.#set.forget(this.#time.value);
  }

  /** @returns whether it was news */
  #add(revocation: Revocation): boolean {
    checkRevocation(revocation);
    this.#time.observe(this.#clocks.now());
    if (this.#clocks.monotonic() >= this.#forgetAt) this.#forget();
    let added = this.#set.add(revocation);
    if (added === "full") {
      this.#forget();
      added = this.#set.add(revocation);
    }
    if (added === "full") {
      this.#isFull = true;
      this.#misses++;
      this.#news.announce();
      throw new RangeError("the feed of revocations is full; give it a larger capacity");
    }
    return added === "added";
  }
}

function closed(): ServiceError {
  return new ServiceError("UNAVAILABLE", "the feed of revocations is closed");
}

function full(): ServiceError {
  return new ServiceError("UNAVAILABLE", "the feed of revocations is full");
}
