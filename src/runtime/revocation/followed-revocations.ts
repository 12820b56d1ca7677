import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../common/logger.ts";
import { type Clocks, SYSTEM_CLOCKS } from "../../common/observed-time.ts";
import type { WatchRevocationsResponse } from "../../gen/proto/svc/iam/v1/revocation_pb.ts";
import { BearerUnchecked } from "../authn/jwt/bearer-token.ts";
import type { RevocableToken, RevocationList } from "../authn/jwt/revocation-list.ts";
import { EarliestTime } from "./earliest-time.ts";
import { FeedClock } from "./feed-clock.ts";
import { type FeedRefusal, feedRefusal } from "./feed-refusal.ts";
import {
  type FeedSituation,
  type FeedState,
  LOSS_MS,
  logFeedState,
  whatIsMissing,
} from "./feed-state.ts";
import { readResponse } from "./read-response.ts";
import { FORGET_EVERY_MS } from "./revocation.ts";
import { RevocationSet } from "./revocation-set.ts";

/** A call of WatchRevocations on a connection of its own. */
export interface FeedConnection {
  readonly responses: AsyncIterable<WatchRevocationsResponse>;
  close(): Promise<void>;
}

/** The options of following a feed. */
export interface FollowOptions {
  /** Calls WatchRevocations from a position on; called again after each end. */
  readonly connect: (position: string, signal: AbortSignal) => FeedConnection;
  /** What becomes of tokens while the revocations are not known. */
  readonly onLoss: "refuse" | "serve";
  /** How many revocations are held. */
  readonly maxEntries: number;
  readonly logger: Logger;
  readonly clocks?: Clocks;
  /** Waits before the next connection, at most until the signal aborts; for tests. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Called in the end. */
  readonly onClose?: () => void;
}

/** After this time without news the connection is given up: a peer may vanish silently. */
const SILENCE_MS = 5000;
/** After a connection that served for less, the next one waits longer: a server may fail at once. */
const STEADY_MS = 5000;
/** How often the state is read while no call reads it. */
const LOOK_EVERY_MS = 1000;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 2000;
/** All revocations are sent again then. */
const FULL_DELAY_MS = 10_000;

/**
 * The revocations of IAM, followed by their stream. While they are not known, tokens are refused,
 * unless the configuration says otherwise.
 *
 * Ages are measured by the monotonic clock. A revocation is forgotten once it need not be kept by
 * both clocks, this one and that of the feed; a jump ahead of either counts only after a day.
 */
export class FollowedRevocations implements RevocationList {
  readonly #options: FollowOptions;
  readonly #clocks: Clocks;
  readonly #set: RevocationSet;
  readonly #ownTime: EarliestTime;
  readonly #feedTime: EarliestTime;
  readonly #feedClock: FeedClock;
  readonly #end = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #following: Promise<void>;
  readonly #startedAt: number;
  /** When all revocations were last known, on the monotonic clock; undefined before the first snapshot. */
  #currentAt: number | undefined;
  #isFull = false;
  #position = "";
  #forgetAt = Number.NEGATIVE_INFINITY;
  #state: FeedState = "starting";
  /** Why the last connection ended. */
  #reason = "no response yet";
  /** How the last connection was refused; undefined if it was not. */
  #refusal: FeedRefusal | undefined;

  constructor(options: FollowOptions) {
    const { clocks = SYSTEM_CLOCKS, maxEntries } = options;
    this.#options = options;
    this.#clocks = clocks;
    this.#set = new RevocationSet(maxEntries);
    this.#ownTime = new EarliestTime(clocks.monotonic);
    this.#feedTime = new EarliestTime(clocks.monotonic);
    this.#feedClock = new FeedClock(clocks);
    this.#startedAt = clocks.monotonic();
    this.#timer = setInterval(() => void this.state, LOOK_EVERY_MS);
    this.#timer.unref();
    this.#following = this.#follow(this.#end.signal);
  }

  /** How many revocations are known. */
  get size(): number {
    return this.#set.size;
  }

  /** Whether the revocations are known now; a change is logged. */
  get state(): FeedState {
    const state = this.#look();
    if (state !== this.#state) {
      this.#state = state;
      logFeedState(state, this.#situation());
    }
    return state;
  }

  /**
   * Whether a token is revoked.
   *
   * @throws ServiceError UNAVAILABLE while that is not known
   */
  isRevoked(token: RevocableToken): boolean {
    // Who is known to be revoked is refused in any state.
    if (this.#set.isRevoked(token)) return true;
    if (this.#refuses(this.state)) throw new BearerUnchecked();
    return false;
  }

  /**
   * What a readiness probe says. Until the revocations have arrived the service is not ready, and
   * others may serve its calls. Once they had, it stays ready: all services follow the same feed,
   * and those of their calls without a token are served.
   */
  readiness(): string | { readonly detail: string } | undefined {
    const missing = whatIsMissing(this.state, this.#situation());
    if (missing === undefined) return undefined;
    if (!this.#refuses(this.state)) return { detail: `${missing}; on_loss is serve` };
    const detail = `${missing}, so tokens are refused`;
    // The clock of another replica may be right.
    return this.#currentAt === undefined || this.state === "apart" ? detail : { detail };
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#end.abort();
    await this.#following;
    this.#options.onClose?.();
  }

  #situation(): FeedSituation {
    const { logger, onLoss, maxEntries } = this.#options;
    const { aheadMs } = this.#feedClock;
    const [reason, refusal] = [this.#reason, this.#refusal];
    return { logger, onLoss, maxEntries, aheadMs, size: this.size, reason, refusal };
  }

  #refuses(state: FeedState): boolean {
    return state === "full" || (state !== "live" && this.#options.onLoss === "refuse");
  }

  #look(): FeedState {
    if (this.#isFull) return "full";
    const silent = this.#clocks.monotonic() - (this.#currentAt ?? this.#startedAt);
    if (silent >= LOSS_MS) return "lost";
    if (this.#currentAt === undefined) return "starting";
    return this.#feedClock.isApart ? "apart" : "live";
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const begin = this.#clocks.monotonic();
      this.#reason = await this.#watch(signal);
      if (signal.aborted) return;
      const reason = this.#reason;
      this.#options.logger.debug({ reason }, "the stream of revocations has ended");
      failures = this.#clocks.monotonic() - begin > STEADY_MS ? 0 : failures + 1;
      const most = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures, 10));
      const delay = this.#isFull ? FULL_DELAY_MS : most;
      // Random: services that lost the same server do not come back together.
      const { wait = pause } = this.#options;
      await wait(delay * (0.5 + Math.random() / 2), signal).catch(() => undefined);
    }
  }

  /**
   * One call, to its end.
   *
   * @returns why it has ended
   */
  async #watch(end: AbortSignal): Promise<string> {
    const abort = new AbortController();
    const onEnd = () => abort.abort();
    end.addEventListener("abort", onEnd);
    let reason = "the server ended the stream";
    const silence = setTimeout(() => {
      reason = `the server had no news for ${SILENCE_MS / 1000} seconds`;
      abort.abort();
    }, SILENCE_MS);
    silence.unref();
    let connection: FeedConnection | undefined;
    try {
      connection = this.#options.connect(this.#position, abort.signal);
      let isKnown = this.#position !== "";
      for await (const response of connection.responses) {
        const part = readResponse(response);
        // A server that cannot read its store answers too: another one may be able to.
        if (part.current || part.revocations.length > 0) silence.refresh();
        isKnown ||= part.snapshotBegin;
        if (part.current && !isKnown) throw new Error("it sent no snapshot");
        this.#apply(part);
      }
      this.#refusedBy(undefined);
    } catch (error) {
      if (!abort.signal.aborted) reason = error instanceof Error ? error.message : String(error);
      this.#refusedBy(feedRefusal(error));
    } finally {
      clearTimeout(silence);
      end.removeEventListener("abort", onEnd);
      abort.abort();
      await connection?.close().catch(() => undefined);
    }
    return reason;
  }

  /** Logs a refusal at once, but not again with each attempt. */
  #refusedBy(refusal: FeedRefusal | undefined): void {
    if (refusal !== undefined && refusal !== this.#refusal) {
      this.#options.logger.error({}, `${refusal.reason}: ${refusal.fix}`);
    }
    this.#refusal = refusal;
  }

  /** @throws Error if there is no room for a revocation; all of them are then asked for again */
  #apply({ position, snapshotBegin, revocations, current, time }: ReturnType<typeof readResponse>) {
    this.#ownTime.observe(this.#clocks.now());
    this.#feedTime.observe(time);
    this.#feedClock.observe(time);
    if (this.#clocks.monotonic() >= this.#forgetAt) this.#forget();
    if (snapshotBegin) this.#position = "";
    for (const revocation of revocations) {
      if (this.#set.add(revocation) !== "full") continue;
      this.#forget();
      if (this.#set.add(revocation) !== "full") continue;
      this.#isFull = true;
      this.#position = "";
      void this.state;
      throw new Error("there are more revocations than max_entries");
    }
    if (position !== "") this.#position = position;
    if (!current) return;
    this.#isFull = false;
    this.#refusal = undefined;
    this.#currentAt = this.#clocks.monotonic();
    void this.state;
  }

  #forget(): void {
    this.#forgetAt = this.#clocks.monotonic() + FORGET_EVERY_MS;
    this.#set.forget(Math.min(this.#ownTime.value, this.#feedTime.value));
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return sleep(milliseconds, undefined, { signal, ref: false });
}
