import { type ProcessLogger, ServiceError } from "svc-access/runtime";
import { ProviderFault } from "./provider-fault.ts";

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
