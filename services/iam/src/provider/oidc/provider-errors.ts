import { type ProcessLogger, ServiceError } from "svc-access/runtime";

/** What OAuth calls a code or token that is not, or no longer, valid (RFC 6749, 5.2). */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ["invalid_grant", "the identity provider does not accept the code or token"],
  ["invalid_scope", "the identity provider does not grant these scopes"],
  ["unsupported_token_type", "the identity provider cannot revoke this kind of token"],
]);

/**
 * What an error of a provider means for a caller of this service: its code or token was refused, or
 * the provider does not work. What is safe of its error is logged, and is the cause: the runtime logs
 * that of each call.
 */
export function explainProviderError(
  error: unknown,
  logger: Pick<ProcessLogger, "error">,
): ServiceError {
  if (error instanceof ServiceError) return error;
  const fault = new ProviderFault(error);
  const { error: code } = (error ?? {}) as { readonly error?: unknown };
  const refusal = typeof code === "string" ? REFUSALS.get(code) : undefined;
  if (refusal !== undefined) {
    return new ServiceError("INVALID_ARGUMENT", refusal, {
      details: { error: code as string },
      cause: fault,
    });
  }
  logger.error({ error: fault }, "the identity provider does not work");
  return new ServiceError("UNAVAILABLE", "the identity provider does not answer", { cause: fault });
}

/** A document of a provider that cannot be used. Its message is logged, so it contains no personal data. */
export class ProviderDocumentError extends Error {
  override readonly name = "ProviderDocumentError";
}

/** Errors with messages that their authors wrote, and that quote nothing of a response. */
const FIXED_MESSAGES: ReadonlySet<string> = new Set([
  // oauth4webapi and openid-client
  "AuthorizationResponseError",
  "ClientError",
  "OperationProcessingError",
  "ResponseBodyError",
  "UnsupportedOperationError",
  "WWWAuthenticateChallengeError",
  // this folder
  "ProviderDocumentError",
  "ResponseTooLargeError",
]);

/** Codes of OAuth and OpenID Connect. A provider can write anything in their place. */
const OAUTH_CODES: ReadonlySet<string> = new Set([
  "access_denied",
  "consent_required",
  "interaction_required",
  "invalid_client",
  "invalid_grant",
  "invalid_request",
  "invalid_scope",
  "invalid_target",
  "login_required",
  "server_error",
  "temporarily_unavailable",
  "unauthorized_client",
  "unsupported_grant_type",
  "unsupported_response_type",
  "unsupported_token_type",
]);

/** The codes of Node and of the libraries, such as `ECONNREFUSED` and `OAUTH_JWT_CLAIM_COMPARISON`. */
const CODE = /^[A-Z][A-Z0-9_]{2,63}$/;
const NAME = /^[A-Za-z]{1,64}$/;
const LONGEST_MESSAGE = 500;
const MOST_CAUSES = 5;

/**
 * What may be logged of an error of a provider. The error itself may contain the claims of a refused ID
 * token, parts of a response, tokens, and what the provider wrote about a person. This one contains
 * names, codes and messages that are fixed.
 *
 * @example `ClientError OAUTH_JWT_CLAIM_COMPARISON "unexpected JWT claim value encountered" < …`
 */
class ProviderFault extends Error {
  override readonly name = "ProviderFault";

  constructor(error: unknown) {
    super(described(error));
  }
}

function described(error: unknown): string {
  const parts: string[] = [];
  let at = error;
  for (let count = 0; count < MOST_CAUSES && at instanceof Error; count++) {
    parts.push(partOf(at));
    at = at.cause;
  }
  if (at instanceof Response) parts.push(`status ${at.status}`);
  return parts.length === 0 ? "not an Error" : parts.join(" < ");
}

function partOf(error: Error): string {
  const { name, message } = error;
  const {
    code,
    error: oauth,
    status,
  } = error as { code?: unknown; error?: unknown; status?: unknown };
  const part = [NAME.test(name) ? name : "Error"];
  if (typeof code === "string" && CODE.test(code)) part.push(code);
  if (FIXED_MESSAGES.has(name)) part.push(JSON.stringify(message.slice(0, LONGEST_MESSAGE)));
  if (typeof oauth === "string") part.push(OAUTH_CODES.has(oauth) ? oauth : "an unknown code");
  if (typeof status === "number") part.push(`status ${status}`);
  return part.join(" ");
}
