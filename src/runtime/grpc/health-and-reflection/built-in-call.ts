import type { Deadlines, Timed } from "../../chain/deadlines.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { RpcExchange } from "../../rpc/rpc-exchange.ts";
import type { OngoingCall } from "./built-in-method.ts";
import type { CallQuota } from "./call-quota.ts";

/** Node's timers hold no more: a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Who keeps the calls under way. */
export interface BuiltInCallKeeper {
  /** Of a call a message has come. */
  heard(call: BuiltInCall): void;
  /** A call has ended, however it did; told once. */
  over(call: BuiltInCall): void;
}

/** One call of a built-in RPC: its times, and its place in the quota where it lasts. */
export class BuiltInCall implements OngoingCall {
  readonly #exchange: RpcExchange;
  readonly #quota: CallQuota | undefined;
  readonly #keeper: BuiltInCallKeeper;
  readonly #time = new Alarm(this);
  readonly #silence = new Alarm(this);
  /** Most calls end without anybody who waits for it. */
  #abort: AbortController | undefined;
  #reason: ServiceError | undefined;
  /** Of a client that waits for less. */
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
   * Begins the times of the call.
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
   * The client has sent a message, or taken one.
   *
   * @throws ServiceError where it may have no place
   */
  heard(): void {
    if (this.#isOver) return;
    this.#keeper.heard(this);
    if (this.#quota === undefined) return;
    this.#silence.set(this.#quota.silence);
    if (this.#hasPlace) return;
    const { peer } = this.#exchange;
    if (this.#quota.refusal(peer) !== undefined) this.#exchange.tooMany?.();
    this.#quota.take(peer);
    this.#hasPlace = true;
  }

  /** Has the one who serves it end it: the server drains. */
  abort(reason: ServiceError): void {
    this.#reason ??= reason;
    this.#abort?.abort(reason);
  }

  /** Ends the call with an error, whatever the one who serves it waits for. */
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
