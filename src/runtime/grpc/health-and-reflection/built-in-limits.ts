import { Deadlines } from "../../chain/deadlines.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { Peer } from "../../peer/peer.ts";

/** The limits of the built-in RPCs: their callers are not authenticated, and have no rate limit. */
export interface BuiltInLimits {
  /** How long the first message of a request may take, and so a unary call. */
  readonly requestMs: number;
  /** How many calls may wait for it; beyond that, the one that has waited longest ends. */
  readonly silent: number;
  /** How long a call may watch health. */
  readonly streamMs: number;
  /** How many calls may watch health: of the process, and of one connection. */
  readonly watchers: number;
  readonly watchersOfConnection: number;
  /**
   * How long a reflection call may take, and how long its client may neither send a request nor
   * read a response.
   */
  readonly reflectionMs: number;
  readonly silenceMs: number;
  /** How many reflection calls there may be: of the process, and of one connection. */
  readonly reflections: number;
  readonly reflectionsOfConnection: number;
  /** How many of their answers may be under way; the others wait. */
  readonly answersAtOnce: number;
}

export const DEFAULT_BUILT_IN_LIMITS: BuiltInLimits = {
  // Clients send it in one piece with the headers.
  requestMs: 5_000,
  silent: 1024,
  // The default of other streams.
  streamMs: 3_600_000,
  // A client watches once for each of its connections, a proxy for all clients behind it. Each
  // watcher costs up to 20 KiB.
  watchers: 1024,
  watchersOfConnection: 64,
  // Allows for a person at a console between requests; clients open another call then.
  reflectionMs: 300_000,
  silenceMs: 30_000,
  // Some clients ask for all services at once, each in a call of its own, and a connection has
  // 1000 calls at most.
  reflections: 2048,
  reflectionsOfConnection: 1024,
  // An answer is of more than a MiB where the services are many.
  answersAtOnce: 16,
};

/** The options of a quota. */
export interface CallQuotaOptions {
  /** For messages, such as `health watchers`. */
  readonly what: string;
  readonly most: number;
  readonly mostOfConnection: number;
  /** How long a call may have its place. */
  readonly milliseconds: number;
  /** How long its client may be silent; absent, the same time. */
  readonly silenceMs?: number;
}

/** Limits long calls: a number of places for the process, and for each connection. */
export class CallQuota {
  readonly milliseconds: number;
  readonly time: Deadlines;
  readonly silence: Deadlines | undefined;
  readonly #most: number;
  readonly #mostOfConnection: number;
  /** One object for all: when it is reported, there are many. */
  readonly #isFull: ServiceError;
  readonly #connectionIsFull: ServiceError;
  readonly #taken = new Map<Peer, number>();
  #all = 0;

  constructor(options: CallQuotaOptions) {
    const { what, most, mostOfConnection, milliseconds, silenceMs } = options;
    this.#most = most;
    this.#mostOfConnection = mostOfConnection;
    this.#isFull = full(`${most} ${what} are under way`);
    this.#connectionIsFull = full(`${mostOfConnection} ${what} of this connection are under way`);
    this.milliseconds = milliseconds;
    this.time = new Deadlines(milliseconds);
    this.silence = silenceMs === undefined ? undefined : new Deadlines(silenceMs);
  }

  /**
   * The reason why a call of a connection would get no place; undefined if there is one. A
   * connection has one peer.
   */
  refusal(peer: Peer): ServiceError | undefined {
    if ((this.#taken.get(peer) ?? 0) >= this.#mostOfConnection) return this.#connectionIsFull;
    return this.#all >= this.#most ? this.#isFull : undefined;
  }

  /**
   * Takes a place for a call of a connection.
   *
   * @throws ServiceError RATE_LIMITED if none is left
   */
  take(peer: Peer): void {
    const refusal = this.refusal(peer);
    if (refusal !== undefined) throw refusal;
    this.#taken.set(peer, (this.#taken.get(peer) ?? 0) + 1);
    this.#all++;
  }

  /** Releases a place. */
  free(peer: Peer): void {
    const left = (this.#taken.get(peer) ?? 1) - 1;
    if (left === 0) this.#taken.delete(peer);
    else this.#taken.set(peer, left);
    this.#all--;
  }
}

function full(what: string): ServiceError {
  return Object.freeze(new ServiceError("RATE_LIMITED", `${what}, which is the limit`));
}
