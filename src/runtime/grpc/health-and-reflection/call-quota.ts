import { Deadlines } from "../../chain/deadlines.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { Peer } from "../../peer/peer.ts";

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
   * @throws ServiceError RATE_LIMITED where none is left
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
