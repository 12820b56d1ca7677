/** Calls that fail since the authorization engine does not answer: before their handler, or in it. */
import { AuthzError, type AuthzErrorCode } from "../../authz/engine/authz-error.ts";
import type { Call } from "../call/call.ts";
import type { CallObserver } from "../chain/call-stages.ts";
import type { RuntimeEvents } from "../events/runtime-events.ts";

/** Calls that the stage has counted. */
const undecided = new WeakSet<Call>();
const UNANSWERED: ReadonlySet<AuthzErrorCode> = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED"]);
/** An error may be its own cause. */
const MAX_CAUSES = 10;

/** Counts a call whose check before the handler came to no decision. */
export function countUndecided(call: Call, events: RuntimeEvents): void {
  undecided.add(call);
  events.authorization("unavailable");
}

/**
 * Counts calls whose handlers asked the engine themselves, and failed since it did not answer. A
 * handler that goes on without an answer is not counted, since nobody sees it here.
 */
export function countFailedHandlers(events: RuntimeEvents): CallObserver {
  return {
    end(call, error) {
      if (!undecided.has(call) && isUnanswered(error)) events.authorization("unavailable");
    },
  };
}

function isUnanswered(thrown: unknown): boolean {
  let error = thrown;
  for (let count = 0; error instanceof Error && count < MAX_CAUSES; count++) {
    if (error instanceof AuthzError) return UNANSWERED.has(error.code);
    error = error.cause;
  }
  return false;
}
