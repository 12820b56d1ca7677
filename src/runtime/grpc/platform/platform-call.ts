import type { Deadlines, Timed } from "../../chain/deadlines.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { GrpcExchange } from "../grpc-exchange.ts";
import type { Places } from "./places.ts";

/** One call of an RPC of the platform: its times, and its place where it lasts. */
export class PlatformCall {
  readonly #exchange: GrpcExchange;
  readonly #places: Places | undefined;
  readonly #onOver: () => void;
  readonly #abort = new AbortController();
  readonly #time = new Alarm(() => this.end(late()));
  readonly #silence = new Alarm(() => this.end(late()));
  /** Of a client that waits for less. */
  #timer: NodeJS.Timeout | undefined;
  #hasPlace = false;
  #isOver = false;

  /** @param onOver called once, however the call ends */
  constructor(exchange: GrpcExchange, places: Places | undefined, onOver: () => void) {
    this.#exchange = exchange;
    this.#places = places;
    this.#onOver = onOver;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /**
   * Begins the times of the call.
   *
   * @param request how long its first message may take, or all of a call without a place
   * @throws ServiceError for a deadline that is malformed or has passed
   */
  begin(request: Deadlines): void {
    this.#silence.set(request);
    this.#time.set(this.#places?.time);
    const timeout = this.#exchange.clientTimeout();
    if (timeout === undefined || timeout >= (this.#places?.milliseconds ?? Infinity)) return;
    if (timeout <= 0) throw late();
    this.#timer = setTimeout(() => this.end(late()), timeout);
  }

  /**
   * The client has sent a message, or taken one.
   *
   * @throws ServiceError where it may have no place
   */
  heard(): void {
    if (this.#isOver || this.#places === undefined) return;
    this.#silence.set(this.#places.silence);
    if (this.#hasPlace) return;
    this.#places.take(this.#exchange.peer);
    this.#hasPlace = true;
  }

  /** Has the one who serves it end it: the server drains. */
  abort(reason: ServiceError): void {
    this.#abort.abort(reason);
  }

  /** Ends the call with an error, whatever the one who serves it waits for. */
  end(reason: ServiceError): void {
    this.#abort.abort(reason);
    this.#exchange.fail(reason);
    this.over();
  }

  /** The call has ended. */
  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#time.set(undefined);
    this.#silence.set(undefined);
    clearTimeout(this.#timer);
    if (this.#hasPlace) this.#places?.free(this.#exchange.peer);
    this.#onOver();
  }
}

function late(): ServiceError {
  return new ServiceError("DEADLINE_EXCEEDED");
}

/** Goes off unless it is set anew. */
class Alarm implements Timed {
  expiresAt = 0;
  previous: Timed | undefined = undefined;
  next: Timed | undefined = undefined;
  readonly expire: () => void;
  #deadlines: Deadlines | undefined;

  constructor(expire: () => void) {
    this.expire = expire;
  }

  set(deadlines: Deadlines | undefined): void {
    this.#deadlines?.remove(this);
    this.#deadlines = deadlines;
    deadlines?.add(this, performance.now());
  }
}
