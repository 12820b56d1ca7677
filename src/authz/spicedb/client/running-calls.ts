import { AuthzError } from "../../engine/authz-error.ts";
import { abortError } from "./map-error.ts";

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

  /** Ends all calls, and refuses later ones. */
  close(): void {
    this.#closed = true;
    for (const stop of this.#running) stop.abort(closedError());
  }
}

function closedError(): AuthzError {
  return new AuthzError("UNAVAILABLE", "the engine is closed");
}
