import type { Deadlines, Timed } from "../../chain/deadlines.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { RpcExchange } from "../../rpc/rpc-exchange.ts";
import type { CallQuota } from "./built-in-limits.ts";
import type { OngoingCall } from "./built-in-method.ts";

/** Node's maximum: a longer timer would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The owner of the calls under way. */
export interface BuiltInCallKeeper {
  /** A message of a call has arrived. */
  received(call: BuiltInCall): void;
  /** A call has ended, in any way; called once. */
  over(call: BuiltInCall): void;
}

/** One call of a built-in RPC: its deadlines, and its place in the quota if it is long. */
export class BuiltInCall implements OngoingCall {
  readonly #exchange: RpcExchange;
  readonly #quota: CallQuota | undefined;
  readonly #keeper: BuiltInCallKeeper;
  readonly #time = new Alarm(this);
  readonly #silence = new Alarm(this);
  /** Most calls end without a waiter. */
  #abort: AbortController | undefined;
  #reason: ServiceError | undefined;
  /** The deadline of a client with a shorter timeout. */
  #timer: NodeJS.Timeout | undefined;
  #hasPlace = false;
  #isOver = false;

  constructor(exchange: RpcExchange, quota: CallQuota | undefined, keeper: BuiltInCallKeeper) {
    this.#exchange = exchange;
    this.#quota = quota;
    this.#keeper = keeper;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#reason !== undefined) this.#abort.abort(this.#reason);
    }
    return this.#abort.signal;
  }

  /**
   * Starts the deadlines of the call.
   *
   * @param request how long its first message may take, or all of a call without a place
   * @throws ServiceError for a deadline that is malformed or has passed
   */
  begin(request: Deadlines): void {
    this.#silence.set(request);
    this.#time.set(this.#quota?.time);
    const timeout = this.#exchange.clientTimeout();
    if (timeout === undefined || timeout >= (this.#quota?.milliseconds ?? Infinity)) return;
    if (timeout <= 0) throw late();
    this.#timer = setTimeout(() => this.end(late()), Math.min(timeout, LONGEST_MS));
  }

  /**
   * The client has sent or read a message.
   *
   * @throws ServiceError if there is no place for it
   */
  received(): void {
    if (this.#isOver) return;
    this.#keeper.received(this);
    if (this.#quota === undefined) return;
    this.#silence.set(this.#quota.silence);
    if (this.#hasPlace) return;
    const { peer } = this.#exchange;
    if (this.#quota.refusal(peer) !== undefined) this.#exchange.tooMany?.();
    this.#quota.take(peer);
    this.#hasPlace = true;
  }

  /** Asks its handler to end it: the server drains. */
  abort(reason: ServiceError): void {
    this.#reason ??= reason;
    this.#abort?.abort(reason);
  }

  /** Ends the call with an error, even if its handler is waiting. */
  end(reason: ServiceError): void {
    this.abort(reason);
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
    if (this.#hasPlace) this.#quota?.free(this.#exchange.peer);
    this.#keeper.over(this);
  }
}

function late(): ServiceError {
  return new ServiceError("DEADLINE_EXCEEDED");
}

/** Ends its call unless it is set again. */
class Alarm implements Timed {
  expiresAt = 0;
  previous: Timed | undefined = undefined;
  next: Timed | undefined = undefined;
  readonly #call: BuiltInCall;
  #deadlines: Deadlines | undefined;

  constructor(call: BuiltInCall) {
    this.#call = call;
  }

  set(deadlines: Deadlines | undefined): void {
    this.#deadlines?.remove(this);
    this.#deadlines = deadlines;
    deadlines?.add(this, performance.now());
  }

  expire(): void {
    this.#call.end(late());
  }
}
