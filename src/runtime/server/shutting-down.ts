import { ServiceError } from "../error/service-error.ts";

/** What a caller is told whose call is ended because the server ends: another one may serve it. */
export function shuttingDown(): ServiceError {
  return new ServiceError("UNAVAILABLE", "the server is shutting down");
}
