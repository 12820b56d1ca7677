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

/** Codes whose message may name what is inside; the caller gets the default one. */
const HIDDEN: ReadonlySet<ErrorCode> = new Set(["INTERNAL", "UNAVAILABLE"]);

/** When to come again where the engine or its store cannot be reached. */
const RETRY_AFTER_SECONDS = 1;

/** What another service refuses to us says nothing of our caller: a token of ours may be wrong, or our share used up. */
const REMOTE_STATUSES: Readonly<Record<number, ErrorCode>> = {
  401: "INTERNAL",
  403: "INTERNAL",
  429: "UNAVAILABLE",
};

/**
 * What a caller is sent of whatever was thrown. Only a `ServiceError` and the
 * refusals of an authorization engine and of a database speak for themselves; all else is INTERNAL
 * without detail, with the error as its cause, for the log.
 */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) {
    const code = error.isRemote ? REMOTE_STATUSES[error.status] : undefined;
    return code === undefined ? error : new ServiceError(code, undefined, { cause: error });
  }
  if (error instanceof AuthzError || error instanceof DatabaseError) {
    const code = AUTHZ_CODES[error.code];
    const message = HIDDEN.has(code) ? undefined : error.message;
    const retry = error.code === "UNAVAILABLE" ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {};
    return new ServiceError(code, message, { cause: error, ...retry });
  }
  return new ServiceError("INTERNAL", undefined, { cause: error });
}
