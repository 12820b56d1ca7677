import type { EventEmitter } from "node:events";
import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import type { FailedAttempt } from "../../people/accounts/throttle/failed-attempts.ts";
import type { EmbeddedProviderOptions } from "./embedded-options.ts";
import { clientDetails } from "./request/provider-events.ts";
import { requestScope } from "./request/request-scope.ts";
import { serviceAccountOf } from "./service-accounts/account-client.ts";

/** How `oidc-provider` reports an error of the endpoints at which clients authenticate. */
const ERRORS = [
  "grant.error",
  "introspection.error",
  "revocation.error",
  "device_authorization.error",
];

/** Records clients and service accounts that do not authenticate: somebody may guess secrets, or use a deleted key. */
export function listenForFailedClients(
  provider: Provider,
  { attempts, counts, log }: Pick<EmbeddedProviderOptions, "attempts" | "counts" | "log">,
): void {
  const failed = (ctx: KoaContextWithOIDC, error: { readonly error?: unknown }) => {
    const scope = requestScope.getStore();
    if (error.error !== "invalid_client" || scope === undefined) return;
    // Of other endpoints only failures are known, and of a request without credentials there is nothing to guess.
    if (ctx.oidc.route === "token" && methodOf(ctx) !== "none") counts?.count("client", "failed");
    const attempt = attemptOf(ctx);
    const stored = attempts
      ?.record(scope.call, attempt)
      .catch((error: unknown) =>
        log.error({ error, event: attempt.event }, "an audit event was not stored"),
      );
    if (stored !== undefined) scope.pending.push(stored);
  };
  provider.on("grant.success", (ctx) => {
    // Applications refresh without anybody, and so often that nobody would see failures beside it.
    const isRefresh = ctx.oidc.params?.["grant_type"] === "refresh_token";
    if (!isRefresh && methodOf(ctx) !== "none") counts?.count("client", "succeeded");
  });
  for (const event of ERRORS) (provider as EventEmitter).on(event, failed);
}

/** Without what was sent: an id of nobody may be a secret. */
function attemptOf(ctx: KoaContextWithOIDC): FailedAttempt {
  const { details = {} } = clientDetails(ctx, { method: methodOf(ctx) });
  const login = serviceAccountOf(ctx.oidc.client);
  return {
    event: "client.authentication_failed",
    details,
    ...(login === undefined ? {} : { resource: `service_account:${login.account.id}` }),
  };
}

/** What the client has sent to authenticate, also where that is not accepted, such as a secret in the form. */
function methodOf({ oidc, headers }: KoaContextWithOIDC): "assertion" | "secret" | "none" {
  if (oidc.body?.["client_assertion"] !== undefined) return "assertion";
  const secret = oidc.body?.["client_secret"] ?? headers.authorization;
  return secret === undefined ? "none" : "secret";
}
