import { isStreaming, streamsResponse } from "../../binding/bound-method.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { ClientCall, ClientInterceptor, ClientOptions } from "../call/client-call.ts";

const DEFAULT_TIMEOUT_MS = 5000;
const DEFAULT_STREAM_TIMEOUT_MS = 3_600_000;
/** The maximum of Node's timers; longer ones would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;
/** The reserve of the remaining time of the served call, for the response to its own caller. */
const MARGIN_MS = 20;

/**
 * Ends calls whose time is up or whose caller has given up. The timeout is the client's own, or
 * less if the call being served has less time left.
 */
export function timeout({ timeoutMs, streamTimeoutMs }: ClientOptions): ClientInterceptor {
  return async (call, next) => {
    const { methodKind } = call.method;
    const own =
      call.options.timeoutMs ??
      (isStreaming(methodKind)
        ? (streamTimeoutMs ?? DEFAULT_STREAM_TIMEOUT_MS)
        : (timeoutMs ?? DEFAULT_TIMEOUT_MS));
    const now = Date.now();
    const left = (call.options.context?.deadline ?? Number.POSITIVE_INFINITY) - now - MARGIN_MS;
    const limit = Math.min(own, left);
    if (limit <= 0) throw new ServiceError("DEADLINE_EXCEEDED");
    call.deadline = now + limit;
    call.deadlineIsOwn = own <= left;
    const watch = new CallWatch(call, limit);
    try {
      const response = await watch.race(next());
      if (!streamsResponse(methodKind)) return response;
      return watch.follow(response as AsyncIterable<unknown>);
    } catch (error) {
      watch.end();
      throw watch.explain(error);
    } finally {
      if (!streamsResponse(methodKind)) watch.end();
    }
  };
}

/** The end of a call, by time or by its caller, while the call continues. */
class CallWatch {
  readonly #call: ClientCall;
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #callers: readonly AbortSignal[];

  constructor(call: ClientCall, limit: number) {
    const { context, signal } = call.options;
    this.#call = call;
    this.#callers = [context?.signal, signal].filter((each) => each !== undefined);
    call.signal = this.#abort.signal;
    const expire = () => this.#give(new ServiceError("DEADLINE_EXCEEDED"));
    this.#timer = limit <= MAX_TIMER_MS ? setTimeout(expire, limit) : undefined;
    for (const caller of this.#callers) {
      caller.addEventListener("abort", this.#onAbort);
      if (caller.aborted) this.#give(reasonOf(caller));
    }
  }

  /** The response, or the end of the call where that is sooner. */
  race(response: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { signal } = this.#abort;
      signal.addEventListener("abort", () => reject(signal.reason));
      if (signal.aborted) reject(signal.reason);
      response.then(resolve, reject);
    });
  }

  /** A stream lasts until it is read to its end or left. */
  async *follow(responses: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    try {
      yield* responses;
    } catch (error) {
      throw this.explain(error);
    } finally {
      this.end();
    }
  }

  /**
   * What ended the call. A server that knows the deadline may cancel the call when it has passed,
   * before the timer here has come to its turn.
   */
  explain(error: unknown): unknown {
    const isCancelled = error instanceof ServiceError && error.code === "CANCELLED";
    if (!isCancelled || Date.now() < this.#call.deadline) return error;
    if (this.#callers.some(({ aborted }) => aborted)) return error;
    return new ServiceError("DEADLINE_EXCEEDED", undefined, { cause: error });
  }

  end(): void {
    clearTimeout(this.#timer);
    for (const caller of this.#callers) caller.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (event: Event): void => this.#give(reasonOf(event.target as AbortSignal));

  #give(reason: ServiceError): void {
    this.#abort.abort(reason);
  }
}

function reasonOf({ reason }: AbortSignal): ServiceError {
  if (reason instanceof ServiceError) return reason;
  return new ServiceError("CANCELLED", undefined, { cause: reason });
}
