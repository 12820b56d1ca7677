import { randomUUID } from "node:crypto";
import { type Clocks, SYSTEM_CLOCKS } from "../../common/observed-time.ts";
import { isSubjectId } from "../authn/identity/identity-text.ts";
import type { RevocableToken, RevocationList } from "../authn/jwt/revocation-list.ts";
import { ServiceError } from "../error/service-error.ts";
import { EarliestTime } from "./earliest-time.ts";
import {
  FORGET_EVERY_MS,
  HEARTBEAT_MS,
  MAX_BATCH,
  MAX_ID_LENGTH,
  MAX_TIME,
  type Revocation,
} from "./revocation.ts";
import { RevocationSet } from "./revocation-set.ts";

/** The options of a feed of revocations. */
export interface RevocationFeedOptions {
  /**
   * The revocations that count already, from the store behind the feed. The feed tells those who
   * watch it that these, and those that are published, are all.
   */
  readonly initial?: Iterable<Revocation>;
  /**
   * Whether the feed has all revocations that are stored: false while the store cannot be read, or
   * was not read for some seconds. Watchers then refuse tokens after 10 s. Absent, it always has.
   */
  readonly isCurrent?: () => boolean;
  /** How many revocations it holds; 100,000 if absent. */
  readonly capacity?: number;
  /**
   * How many of the latest revocations a watcher may have missed without getting all of them again;
   * 10,000 if absent.
   */
  readonly logCapacity?: number;
  /** The clocks, for tests. */
  readonly clocks?: Clocks;
}

/** A response of `svc.iam.v1.IAMRevocationService/WatchRevocations`. */
export interface RevocationFeedResponse {
  /** Where a later call goes on. */
  position: string;
  /** Whether a snapshot begins. */
  snapshotBegin: boolean;
  /** What is revoked. */
  revocations: RevocationFeedEntry[];
  /** Whether nothing is missing. */
  current: boolean;
  /** The clock of the feed. */
  time: RevocationTime;
}

/** A revocation as a response has it. */
export interface RevocationFeedEntry {
  /** The tokens that it is about. */
  revoked: RevokedIdEntry | RevokedSubjectEntry;
  /** Until when it must be kept. */
  keepUntil: RevocationTime;
}

/** The tokens of a session, or one token. */
export interface RevokedIdEntry {
  /** Which of them. */
  case: "sessionId" | "tokenId";
  /** The claim `sid` or `jti`. */
  value: string;
}

/** The tokens of a subject. */
export interface RevokedSubjectEntry {
  /** That it is a subject. */
  case: "subject";
  /** Which, and which of its tokens. */
  value: RevokedSubjectMessage;
}

/** A subject, and the time up to which its tokens are revoked. */
export interface RevokedSubjectMessage {
  /** The claim `sub`. */
  subjectId: string;
  /** `user` or `service_account`. */
  subjectType: string;
  /** The last `iat` of its revoked tokens. */
  issuedUntil: RevocationTime;
}

/** A time as a response has it: a `google.protobuf.Timestamp`. */
export interface RevocationTime {
  /** Whole seconds since the epoch. */
  seconds: bigint;
  /** The rest, in nanoseconds. */
  nanos: number;
}

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
  readonly #logCapacity: number;
  /** The latest revocations; the last one has the number `#head`. */
  #log: Revocation[] = [];
  #head = 0;
  /** On the monotonic clock. */
  #forgetAt = Number.NEGATIVE_INFINITY;
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

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
    this.#logCapacity = logCapacity;
    for (const revocation of initial) this.#add(revocation);
  }

  /** How many revocations it holds. */
  get size(): number {
    return this.#set.size;
  }

  /**
   * Tells all watchers of a revocation, at once. One that is known already, or adds nothing to it,
   * has no effect.
   *
   * @throws TypeError if the revocation is not valid; RangeError if the feed is full of those that
   * still count: none is dropped for it, and the feed is closed, since now it misses one
   */
  publish(revocation: Revocation): void {
    if (!this.#add(revocation)) return;
    this.#head++;
    this.#log.push(revocation);
    // Not on each: moving all of them would make a publication as slow as the log is long.
    const tooMany = this.#log.length - this.#logCapacity;
    if (tooMany >= this.#logCapacity) this.#log = this.#log.slice(tooMany);
    this.#wake();
  }

  /**
   * Whether a token is revoked.
   *
   * @throws ServiceError UNAVAILABLE if the feed is closed, or not current
   */
  isRevoked(token: RevocableToken): boolean {
    if (this.#set.isRevoked(token)) return true;
    if (this.#isClosed) throw closed();
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
   * @throws ServiceError UNAVAILABLE once the feed is closed
   */
  async *watch(position: string, signal: AbortSignal): AsyncGenerator<RevocationFeedResponse> {
    let next = this.#numberOf(position);
    while (!signal.aborted) {
      if (this.#isClosed) throw closed();
      if (next === undefined || next < this.#head - this.#log.length) {
        next = this.#head;
        yield* this.#snapshot(next);
      } else {
        const from = this.#log.length - (this.#head - next);
        const revocations = this.#log.slice(from, from + MAX_BATCH);
        next += revocations.length;
        yield this.#response(revocations, next);
      }
      if (next === this.#head) await this.#news(signal);
    }
  }

  /** Ends all watches with UNAVAILABLE; watchers then come back, and get all revocations again. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** The number of the last revocation that a watcher has; undefined if it must get all of them. */
  #numberOf(position: string): number | undefined {
    const [, id, digits] = /^(.{36})\.(\d{1,15})$/.exec(position) ?? [];
    const number = Number(digits);
    return id === this.#id && number <= this.#head ? number : undefined;
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
      current: number === this.#head && this.#isCurrent(),
      time: timeOf(this.#clocks.now()),
    };
  }

  /** Waits for a publication, the time of a heartbeat, or an end. */
  #news(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", wake);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, HEARTBEAT_MS);
      timer.unref();
      signal.addEventListener("abort", wake);
      this.#waiting.add(wake);
    });
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  #forget(): void {
    this.#forgetAt = this.#clocks.monotonic() + FORGET_EVERY_MS;
    this.#set.forget(this.#time.value);
  }

  /** @returns whether it was news */
  #add(revocation: Revocation): boolean {
    check(revocation);
    this.#time.observe(this.#clocks.now());
    if (this.#clocks.monotonic() >= this.#forgetAt) this.#forget();
    let added = this.#set.add(revocation);
    if (added === "full") {
      this.#forget();
      added = this.#set.add(revocation);
    }
    if (added === "full") {
      this.close();
      throw new RangeError("the feed of revocations is full; give it a larger capacity");
    }
    return added === "added";
  }
}

/** Before it is stored anywhere: each watcher would refuse it, and with it all tokens. */
function check(revocation: Revocation): void {
  const times = [revocation.keepUntil];
  if ("subject" in revocation) {
    const { type, id, issuedUntil } = revocation.subject;
    times.push(issuedUntil);
    if ((type !== "user" && type !== "service_account") || !isSubjectId(id)) {
      throw new TypeError("the subject of a revocation is not valid");
    }
  } else {
    const id = "sessionId" in revocation ? revocation.sessionId : revocation.tokenId;
    if (typeof id !== "string" || id === "" || id.length > MAX_ID_LENGTH) {
      throw new TypeError(`the id of a revocation must have 1 to ${MAX_ID_LENGTH} characters`);
    }
  }
  if (!times.every((time) => time >= 0 && time <= MAX_TIME)) {
    throw new TypeError("the times of a revocation must be milliseconds since the epoch");
  }
}

function entryOf(revocation: Revocation): RevocationFeedEntry {
  const keepUntil = timeOf(revocation.keepUntil);
  if ("sessionId" in revocation) {
    return { revoked: { case: "sessionId", value: revocation.sessionId }, keepUntil };
  }
  if ("tokenId" in revocation) {
    return { revoked: { case: "tokenId", value: revocation.tokenId }, keepUntil };
  }
  const { type, id, issuedUntil } = revocation.subject;
  const value = { subjectId: id, subjectType: type, issuedUntil: timeOf(issuedUntil) };
  return { revoked: { case: "subject", value }, keepUntil };
}

const NS_PER_MS = 1_000_000;

function timeOf(time: number): RevocationTime {
  const milliseconds = Math.ceil(time);
  const seconds = Math.floor(milliseconds / 1000);
  return { seconds: BigInt(seconds), nanos: (milliseconds - seconds * 1000) * NS_PER_MS };
}

function closed(): ServiceError {
  return new ServiceError("UNAVAILABLE", "the feed of revocations is closed");
}
