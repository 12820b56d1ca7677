import { AuthzError } from "../../engine/authz-error.ts";
import { abortError } from "./map-error.ts";

/** A call of the engine that is under way. */
export interface RunningCall {
  /** Aborted by the caller, by whoever has the call, or with the engine. */
  readonly stop: AbortController;
  /** Ends it: nothing of it is left, not at the signal of its caller either. */
  readonly release: () => void;
}

/** The calls of an engine that are under way, so that its end is theirs. */
export class RunningCalls {
  readonly #running = new Set<AbortController>();
  #closed = false;

  /**
   * Begins a call.
   *
   * @throws AuthzError UNAVAILABLE where the engine is closed; CANCELLED or DEADLINE_EXCEEDED where
   * the caller has gone
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

  /** Ends all calls, and refuses those to come. */
  close(): void {
    this.#closed = true;
    for (const stop of this.#running) stop.abort(closedError());
  }
}

function closedError(): AuthzError {
  return new AuthzError("UNAVAILABLE", "the engine is closed");
}
