import { abortError } from "./abort-error.ts";
import { AuthzError } from "./authz-error.ts";
import type { CallOptions } from "./requests.ts";

/** The options of a call that is under way. */
export type StoppableCall = CallOptions & { readonly signal: AbortSignal };

/** A call of the engine that is under way. */
export interface RunningCall {
  /** Aborted by the caller, by the owner of the call, or when the engine closes. */
  readonly stop: AbortController;
  /** Ends it and removes its listener from the signal of its caller. */
  readonly release: () => void;
}

/** The calls of an engine under way, so that closing it ends them. */
export class RunningCalls {
  readonly #running = new Set<AbortController>();
  #closed = false;

  /**
   * Begins a call.
   *
   * @throws AuthzError UNAVAILABLE if the engine is closed; CANCELLED or DEADLINE_EXCEEDED where
   * the caller has cancelled
   */
  begin(caller: AbortSignal | undefined): RunningCall {
    if (this.#closed) throw closedError();
    if (caller?.aborted) throw abortError(caller);
    const stop = new AbortController();
    const onAbort = () => stop.abort(caller?.reason);
    this.#running.add(stop);
    caller?.addEventListener("abort", onAbort, { once: true });
    const release = () => {
      this.#running.delete(stop);
      caller?.removeEventListener("abort", onAbort);
    };
    return { stop, release };
  }

  /** Runs a call, which ends with its deadline, with its caller and with the engine. */
  async run<Result>(
    options: CallOptions,
    deadlineMs: number,
    work: (options: StoppableCall) => Promise<Result>,
  ): Promise<Result> {
    const { stop, release } = this.begin(options.signal);
    const late = () => new DOMException("the deadline has passed", "TimeoutError");
    const timer = setTimeout(() => stop.abort(late()), deadlineMs);
    try {
      return await work({ ...options, signal: stop.signal });
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  /** Ends all calls, and refuses later ones. */
  close(): void {
    this.#closed = true;
    for (const stop of this.#running) stop.abort(closedError());
  }
}

function closedError(): AuthzError {
  return new AuthzError("UNAVAILABLE", "the engine is closed");
}
