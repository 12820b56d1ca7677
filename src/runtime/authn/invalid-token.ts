import { ServiceError } from "../error/service-error.ts";

/** The error of a token that is not accepted. The reason is text of ours, never of the token. */
export function invalidToken(reason: string, cause?: unknown): ServiceError {
  return new ServiceError("UNAUTHORIZED", `invalid token: ${reason}`, { cause });
}

/**
 * The error of a genuine token whose bearer is not let in, as where it was revoked. It is a
 * decision about the caller, so no other credential of the call is looked at.
 */
export class BearerRefused extends ServiceError {
  constructor(reason: string) {
    super("UNAUTHORIZED", `invalid token: ${reason}`);
  }
}
