import type { EventEmitter } from "node:events";
import type { Provider } from "oidc-provider";
import { DatabaseUnavailable } from "../../store/provider-database.ts";
import type { ProviderStores } from "./adapter/provider-stores.ts";
import type { EmbeddedProviderOptions } from "./embedded-options.ts";
import { clientDetails } from "./request/client-details.ts";
import { restoreAuthorization } from "./request/kept-authorization.ts";
import type { ProviderEvent } from "./request/provider-events.ts";
import { recordEvent } from "./request/record-event.ts";
import { requestScope } from "./request/request-scope.ts";

/** The audit events of a token or code that was used again, by grant type. */
const REUSED: Readonly<Record<string, ProviderEvent["event"]>> = {
  refresh_token: "refresh_token.reused",
  authorization_code: "authorization_code.reused",
  "urn:ietf:params:oauth:grant-type:device_code": "device_code.reused",
};

/** Ends tokens and records audit events when `oidc-provider` reports that something happened. */
export function listen(
  provider: Provider,
  options: EmbeddedProviderOptions,
  { sessions, revocations }: ProviderStores,
): void {
  const { log } = options;
  /** The response waits for it. */
  const pend = (work: Promise<unknown>): void => {
    const done = work.catch((error: unknown) =>
      log.error({ err: error }, "the access tokens of an ended login still count"),
    );
    requestScope.getStore()?.pending.push(done);
  };
  const endTokens = (): void => {
    const sid = requestScope.getStore()?.usedSid;
    if (sid !== undefined) pend(revocations.revoke({ kind: "sid", value: sid }));
  };
  provider.on("grant.revoked", (ctx) => {
    if (ctx.oidc.route === "revocation") endTokens();
    // At the token endpoint it means that what was presented had been used.
    if (ctx.oidc.route !== "token") return;
    endTokens();
    const accountId = ctx.oidc.account?.accountId;
    recordEvent(options, {
      event: REUSED[String(ctx.oidc.params?.["grant_type"])] ?? "refresh_token.reused",
      riskLevel: "HIGH",
      ...(accountId === undefined ? {} : { accountId }),
      ...clientDetails(ctx),
    });
  });
  provider.on("end_session.success", (ctx) => {
    if (ctx.oidc.params?.["logout"] === undefined) return;
    const { accountId, uid } = ctx.oidc.session ?? {};
    if (accountId === undefined || uid === undefined) return;
    pend(sessions.end(uid, accountId));
    recordEvent(options, { event: "login.logged_out", riskLevel: "LOW", accountId });
  });
  provider.on("authorization.success", (ctx) => {
    const accountId = ctx.oidc.session?.accountId;
    if (ctx.oidc.deviceCode === undefined || accountId === undefined) return;
    restoreAuthorization(ctx.oidc.session);
    recordEvent(options, {
      event: "device.approved",
      riskLevel: "MEDIUM",
      accountId,
      ...clientDetails(ctx),
    });
  });
  provider.on("backchannel.error", (_ctx, error, client) => {
    log.warn({ err: error, client: client.clientId }, "a client was not notified of a logout");
  });
  provider.on("server_error", (_ctx, error) => {
    if (!(error instanceof DatabaseUnavailable)) log.error({ err: error }, "the provider failed");
  });
  (provider as EventEmitter).on("error", (error: unknown) =>
    log.error({ err: error }, "the provider failed"),
  );
}
