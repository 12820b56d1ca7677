import { AuthzError } from "./authz-error.ts";

/** The refusal of a call that was aborted: by its caller, by its deadline or with the engine. */
export function abortError({ reason }: AbortSignal): AuthzError {
  if (reason instanceof AuthzError) return reason;
  return reason instanceof Error && reason.name === "TimeoutError"
    ? new AuthzError("DEADLINE_EXCEEDED", "the deadline has passed", { cause: reason })
    : new AuthzError("CANCELLED", "the call was cancelled", { cause: reason });
}
