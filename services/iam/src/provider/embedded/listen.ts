import type { EventEmitter } from "node:events";
import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import type { ProviderStores } from "./adapter/provider-stores.ts";
import { ReusedTokens, type ReuseEvent } from "./adapter/reused-tokens.ts";
import type { EmbeddedProviderOptions } from "./embedded-options.ts";
import { listenForFailedClients } from "./failed-clients.ts";
import { restoreAuthorization } from "./request/kept-authorization.ts";
import { clientDetails, recordEvent } from "./request/provider-events.ts";
import { describeInBody, requestError } from "./request/provider-failure.ts";
import { requestScope } from "./request/request-scope.ts";

/** The audit events of a token or code that was used again, by grant type. */
const REUSED: Readonly<Record<string, ReuseEvent>> = {
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
  const pend = (work: Promise<unknown>): Promise<unknown> => {
    const done = work.catch((error: unknown) =>
      log.error({ error }, "the access tokens of an ended login still count"),
    );
    requestScope.getStore()?.pending.push(done);
    return work;
  };
  /** The same, and the request fails if it does: its caller must not believe that the tokens have ended. */
  const mustHold = (work: Promise<unknown>): void => {
    requestScope.getStore()?.required.push(pend(work));
  };
  listenForFailedClients(provider, options);
  const reused = new ReusedTokens(options, revocations);
  provider.on("grant.revoked", (ctx) => {
    const { usedSid: sid, usedAccountId: accountId } = requestScope.getStore() ?? {};
    if (ctx.oidc.route === "revocation") {
      if (sid !== undefined) mustHold(revocations.revoke({ kind: "sid", value: sid }));
      recordRevocation(options, ctx);
    }
    // At the token endpoint it means that what was presented had been used.
    if (ctx.oidc.route !== "token") return;
    void pend(reused.end({ accountId, sid }));
    const event = REUSED[String(ctx.oidc.params?.["grant_type"])] ?? "refresh_token.reused";
    reused.record({ event, accountId, ...clientDetails(ctx) });
  });
  provider.on("end_session.success", (ctx) => {
    if (ctx.oidc.params?.["logout"] === undefined) return;
    const { accountId, uid } = ctx.oidc.session ?? {};
    if (accountId === undefined || uid === undefined) return;
    mustHold(sessions.end(uid, accountId, { keepsCodes: true }));
    recordEvent(options, { event: "login.logged_out", riskLevel: "LOW", accountId });
  });
  provider.on("authorization.success", (ctx) => {
    const accountId = ctx.oidc.session?.accountId;
    if (ctx.oidc.deviceCode === undefined || accountId === undefined) return;
    restoreAuthorization(ctx.oidc.session);
    if (requestScope.getStore()?.isApprovedBefore === true) return;
    recordEvent(options, {
      event: "device.approved",
      riskLevel: "MEDIUM",
      accountId,
      ...clientDetails(ctx),
    });
  });
  provider.on("server_error", (ctx, error) => {
    describeInBody(ctx, error);
    const { nameCause, call } = requestScope.getStore() ?? {};
    if (nameCause !== undefined) return nameCause(requestError(error));
    log.error({ error, request_id: call?.requestId }, "the provider failed");
  });
  (provider as EventEmitter).on("error", (error: unknown) =>
    log.error({ error }, "the provider failed"),
  );
}

/** A client has ended the login of a person at it, by its refresh token. */
function recordRevocation(options: EmbeddedProviderOptions, ctx: KoaContextWithOIDC): void {
  const accountId = requestScope.getStore()?.usedAccountId;
  recordEvent(options, {
    event: "token.revoked",
    riskLevel: "MEDIUM",
    ...(accountId === undefined ? {} : { accountId }),
    ...clientDetails(ctx, { kind: "refresh_token" }),
  });
}
