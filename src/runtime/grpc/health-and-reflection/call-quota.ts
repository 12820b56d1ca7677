import { Deadlines } from "../../chain/deadlines.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { Peer } from "../../peer/peer.ts";

/** What the RPCs of the platform may take: their callers prove nothing, and no rate limit sees them. */
export interface PlatformLimits {
  /** How long the first message of a request may take, and with it a call that is one message each way. */
  readonly requestMs: number;
  /** How many calls may wait for it; beyond, the one that has waited longest ends. */
  readonly unheard: number;
  /** How long a call may watch health. */
  readonly streamMs: number;
  /** How many calls may watch health: of the process, and of one connection. */
  readonly watchers: number;
  readonly watchersOfConnection: number;
  /** How long a call of reflection may take, and how long its client may neither ask nor take an answer. */
  readonly reflectionMs: number;
  readonly silenceMs: number;
  /** How many calls of reflection there may be: of the process, and of one connection. */
  readonly reflections: number;
  readonly reflectionsOfConnection: number;
  /** How many of their answers may be under way; the others wait. */
  readonly answersAtOnce: number;
}

export const DEFAULT_PLATFORM_LIMITS: PlatformLimits = {
  // Clients send it in one piece with the headers.
  requestMs: 5_000,
  unheard: 1024,
  // As long as other streams, where the configuration does not say.
  streamMs: 3_600_000,
  // A client watches once for each of its connections, a proxy for all clients behind it. Each
  // watcher costs up to 20 KiB.
  watchers: 1024,
  watchersOfConnection: 64,
  // Somebody at a console, who may think between questions; clients open another call then.
  reflectionMs: 300_000,
  silenceMs: 30_000,
  // Some clients ask for all services at once, each in a call of its own, and a connection has
  // 1000 calls at most.
  reflections: 2048,
  reflectionsOfConnection: 1024,
  // An answer is of more than a MiB where the services are many.
  answersAtOnce: 16,
};

/** What is the same for all that share places. */
export interface PlacesOptions {
  /** For messages, such as `watchers of health`. */
  readonly what: string;
  readonly most: number;
  readonly mostOfConnection: number;
  /** How long a call may have its place. */
  readonly milliseconds: number;
  /** How long its client may be silent; absent, as long. */
  readonly silenceMs?: number;
}

/** The places of calls that last: so many of the process, and so many of each connection. */
export class Places {
  readonly milliseconds: number;
  readonly time: Deadlines;
  readonly silence: Deadlines | undefined;
  readonly #most: number;
  readonly #mostOfConnection: number;
  /** One object for all: where they are reported, there are many of them. */
  readonly #isFull: ServiceError;
  readonly #connectionIsFull: ServiceError;
  readonly #taken = new Map<Peer, number>();
  #all = 0;

  constructor(options: PlacesOptions) {
    const { what, most, mostOfConnection, milliseconds, silenceMs } = options;
    this.#most = most;
    this.#mostOfConnection = mostOfConnection;
    this.#isFull = full(`there are ${most} ${what}`);
    this.#connectionIsFull = full(`this connection has ${mostOfConnection} ${what}`);
    this.milliseconds = milliseconds;
    this.time = new Deadlines(milliseconds);
    this.silence = silenceMs === undefined ? undefined : new Deadlines(silenceMs);
  }

  /** Why a call of a connection would get no place; undefined where there is one. A connection has one peer. */
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

  /** Gives a place back. */
  free(peer: Peer): void {
    const left = (this.#taken.get(peer) ?? 1) - 1;
    if (left === 0) this.#taken.delete(peer);
    else this.#taken.set(peer, left);
    this.#all--;
  }
}

function full(what: string): ServiceError {
  return Object.freeze(new ServiceError("RATE_LIMITED", `${what}, the most there may be`));
}
