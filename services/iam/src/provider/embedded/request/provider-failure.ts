import type { KoaContextWithOIDC } from "oidc-provider";
import { DatabaseError } from "svc-access/database";
import { ServiceError } from "svc-access/runtime";
import { MissingKeyError } from "../../../ground/secrets/secret-box.ts";
import { type OAuthErrorBody, oauthErrorBody } from "./oauth-error.ts";
import { requestScope } from "./request-scope.ts";

/** When to try again: as the runtime says of a database. */
const RETRY_AFTER_SECONDS = 1;

/**
 * What the response to a request says of a failure of the service, whose status it gets: `oidc-provider` calls each
 * of them `server_error`, and does not name the request.
 */
export function describeFailure(ctx: KoaContextWithOIDC, error: unknown): OAuthErrorBody {
  const failure = failureOf(error);
  ctx.status = failure.status;
  const { retryAfterSeconds } = failure;
  if (retryAfterSeconds !== undefined) ctx.set("Retry-After", String(retryAfterSeconds));
  return oauthErrorBody(failure, requestScope.getStore()?.call.requestId ?? "");
}

/** UNAVAILABLE where a later attempt may succeed; INTERNAL for all else. */
export function failureOf(error: unknown): ServiceError {
  const known = requestError(error);
  return known instanceof ServiceError ? known : new ServiceError("INTERNAL");
}

/** Describes a failure in a response that `oidc-provider` has made of it, unless that is a page. */
export function describeInBody(ctx: KoaContextWithOIDC, error: unknown): void {
  const { body } = ctx;
  if (typeof body !== "object" || body === null || !("error" in body)) return;
  ctx.body = describeFailure(ctx, error);
}

/** The error by which a request fails: UNAVAILABLE while the database does, or a key is missing here. */
export function requestError(error: unknown): unknown {
  const isDown =
    error instanceof DatabaseError ||
    error instanceof MissingKeyError ||
    codeOf(error) === "UNAVAILABLE";
  if (!isDown || error instanceof ServiceError) return error;
  return new ServiceError("UNAVAILABLE", undefined, {
    cause: error,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
