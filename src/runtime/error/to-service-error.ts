import { AuthzError, type AuthzErrorCode } from "../../authz/engine/authz-error.ts";
import { DatabaseError } from "../../database/database-error.ts";
import type { ErrorCode } from "./error-codes.ts";
import { ServiceError } from "./service-error.ts";

/** How callers see the refusals of an authorization engine and of a database; never as a decision. */
const AUTHZ_CODES: Readonly<Record<AuthzErrorCode, ErrorCode>> = {
  INVALID_ARGUMENT: "INVALID_ARGUMENT",
  ALREADY_EXISTS: "ALREADY_EXISTS",
  FAILED_PRECONDITION: "FAILED_PRECONDITION",
  OUT_OF_RANGE: "INVALID_ARGUMENT",
  RESOURCE_EXHAUSTED: "UNAVAILABLE",
  DEADLINE_EXCEEDED: "DEADLINE_EXCEEDED",
  CANCELLED: "CANCELLED",
  UNAVAILABLE: "UNAVAILABLE",
  UNIMPLEMENTED: "UNIMPLEMENTED",
  INTERNAL: "INTERNAL",
};

/** Codes whose message may contain internal details; the caller gets the default one. */
const HIDDEN: ReadonlySet<ErrorCode> = new Set(["INTERNAL", "UNAVAILABLE"]);

/** When to retry if the engine or its store is unavailable. */
const RETRY_AFTER_SECONDS = 1;

/**
 * A refusal by another service says nothing about our caller: our token may be invalid, or our
 * quota used up.
 */
const REMOTE_STATUSES: Readonly<Record<number, ErrorCode>> = {
  401: "INTERNAL",
  403: "INTERNAL",
  429: "UNAVAILABLE",
};

/**
 * Converts a thrown value to the error for the caller. Only a `ServiceError` and the refusals of an
 * authorization engine and of a database are passed on; all others are INTERNAL without details,
 * with the error as cause, for the log.
 */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) {
    const code = error.isRemote ? REMOTE_STATUSES[error.status] : undefined;
    return code === undefined ? error : new ServiceError(code, undefined, { cause: error });
  }
  // Its messages are for operators, and what it lacks is nothing that the caller can correct.
  if (error instanceof DatabaseError) {
    return new ServiceError("UNAVAILABLE", undefined, {
      cause: error,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
  if (error instanceof AuthzError) {
    const code = AUTHZ_CODES[error.code];
    const message = HIDDEN.has(code) ? undefined : error.message;
    const retry = error.code === "UNAVAILABLE" ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {};
    return new ServiceError(code, message, { cause: error, ...retry });
  }
  return new ServiceError("INTERNAL", undefined, { cause: error });
}
