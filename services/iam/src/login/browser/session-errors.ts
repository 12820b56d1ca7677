import { type ProcessLogger, ServiceError } from "svc-access/runtime";
import { MissingKeyError } from "../../ground/secrets/secret-box.ts";

/** The error of a session that has ended, whoever ended it. */
export function sessionIsOver(cause?: unknown): ServiceError {
  return new ServiceError("UNAUTHORIZED", "the session is over: log in again", { cause });
}

/** The error of a session that cannot be read here; it may continue at another replica. */
export function unreadableSession(cause?: unknown): ServiceError {
  return new ServiceError("UNAVAILABLE", "the session cannot be read now", { cause });
}

/** The same for the error of a missing key, whose id is logged; other errors are returned as they are. */
export function explainMissingKey(error: unknown, logger: Pick<ProcessLogger, "error">): unknown {
  if (!(error instanceof MissingKeyError)) return error;
  logger.error(
    { error, key: error.keyId },
    "a browser session cannot be read: an encryption key is missing",
  );
  return unreadableSession(error);
}
