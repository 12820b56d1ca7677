import { ServiceError } from "../error/service-error.ts";

/** The error of a token that is not accepted. The reason is text of ours, never of the token. */
export function invalidToken(reason: string, cause?: unknown): ServiceError {
  return new ServiceError("UNAUTHORIZED", `invalid token: ${reason}`, { cause });
}
