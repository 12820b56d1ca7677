import { AuthzError } from "../authz-error.ts";

/** What a call that its signal aborted rejects with. */
export function abortError({ reason }: AbortSignal): AuthzError {
  return reason instanceof Error && reason.name === "TimeoutError"
    ? new AuthzError("DEADLINE_EXCEEDED", "the deadline has passed", { cause: reason })
    : new AuthzError("CANCELLED", "the call was cancelled", { cause: reason });
}
