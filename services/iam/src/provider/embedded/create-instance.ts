import type { EventEmitter } from "node:events";
import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { continueByHand, PAGES } from "../../pages/provider-pages.ts";
import { DatabaseUnavailable } from "../../store/provider-database.ts";
import type { ProviderDocuments } from "../../store/provider-documents.ts";
import type { AdapterContext } from "./document-adapter.ts";
import { type EmbeddedProviderOptions, PROVIDER_PATH } from "./embedded-options.ts";
import { oidcConfiguration } from "./oidc-configuration.ts";
import type { ProviderEvent } from "./provider-events.ts";
import { recordEvent } from "./record-event.ts";
import { requestScope } from "./request-scope.ts";
import type { SigningKey } from "./signing-keys.ts";

type Oidc = typeof import("oidc-provider");

/**
 * Makes a provider with keys that never change; when they do, another one takes its place. All its state
 * is in the database.
 */
export function createInstance(
  oidc: Oidc,
  options: EmbeddedProviderOptions,
  keys: readonly SigningKey[],
  documents: ProviderDocuments,
): Provider {
  const context = adapterContext(oidc, options);
  const configuration = oidcConfiguration({
    options,
    keys,
    documents,
    context,
    pages: PAGES,
    errors: oidc.errors,
  });
  const provider = new oidc.Provider(`${options.publicUrl}${PROVIDER_PATH}`, configuration);
  fixOrigin(provider, options.publicUrl);
  // All access tokens name their session, not only those of clients with back-channel logout.
  (provider.Client.prototype as unknown as { includeSid(): boolean }).includeSid = () => true;
  provider.use(async (ctx, next) => {
    ctx.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    ctx.set("Referrer-Policy", "no-referrer");
    await next();
    continueByHand(ctx as KoaContextWithOIDC);
  });
  listen(provider, options);
  return provider;
}

/** The configuration decides the addresses, not what a request says about its host. */
function fixOrigin(provider: Provider, publicUrl: string): void {
  const { protocol, host } = new URL(publicUrl);
  const request = (provider as unknown as { request: object }).request;
  Object.defineProperties(request, {
    protocol: { get: () => protocol.slice(0, -1) },
    host: { get: () => host },
  });
  const { prototype } = provider.OIDCContext as unknown as {
    prototype: { urlFor(name: string, options?: object): string };
  };
  prototype.urlFor = (name, options) => provider.urlFor(name, options as never);
}

function adapterContext(oidc: Oidc, options: EmbeddedProviderOptions): AdapterContext {
  const { errors, Provider } = oidc;
  return {
    rotatedRefreshToken: () => {
      const ctx = Provider.ctx as KoaContextWithOIDC | undefined;
      return ctx?.oidc.entities.RotatedRefreshToken?.jti;
    },
    presentedToken(model, id) {
      const presented = requestScope.getStore()?.presented;
      return presented?.model === model && presented.handle === id ? presented.payload : undefined;
    },
    usedBefore: (model) =>
      model === "ReplayDetection"
        ? new errors.InvalidClientAuth("client assertion tokens must only be used once")
        : new errors.InvalidGrant("it was already used"),
    reused: ({ model, accountId }) =>
      recordEvent(options, {
        event: REUSE_EVENTS[model] ?? "refresh_token.reused",
        riskLevel: "HIGH",
        ...(accountId === undefined ? {} : { accountId }),
        ...clientDetails(Provider.ctx as KoaContextWithOIDC | undefined),
      }),
    async tokenRevoked(_model, id) {
      const payload = requestScope.getStore()?.presented?.payload;
      if (payload?.["jti"] !== id) return;
      await options.revocations.revoke({ kind: "jti", value: id });
      recordEvent(options, { event: "token.revoked", riskLevel: "LOW" });
    },
  };
}

const REUSE_EVENTS: Readonly<Record<string, ReuseEvent>> = {
  RefreshToken: "refresh_token.reused",
  AuthorizationCode: "authorization_code.reused",
  DeviceCode: "device_code.reused",
};

type ReuseEvent = Extract<ProviderEvent["event"], `${string}.reused`>;

/** The events by which `oidc-provider` tells of a token that was used again, by grant type. */
const REUSED_BY: Readonly<Record<string, string>> = {
  refresh_token: "RefreshToken",
  authorization_code: "AuthorizationCode",
  "urn:ietf:params:oauth:grant-type:device_code": "DeviceCode",
};

function listen(provider: Provider, options: EmbeddedProviderOptions): void {
  const { log, revocations } = options;
  provider.on("grant.revoked", (ctx) => {
    // At the token endpoint it means that what was presented had been used.
    if (ctx.oidc.route !== "token") return;
    const model = REUSED_BY[String(ctx.oidc.params?.["grant_type"])] ?? "";
    const accountId = ctx.oidc.account?.accountId;
    recordEvent(options, {
      event: REUSE_EVENTS[model] ?? "refresh_token.reused",
      riskLevel: "HIGH",
      ...(accountId === undefined ? {} : { accountId }),
      ...clientDetails(ctx),
    });
  });
  provider.on("end_session.success", (ctx) => {
    if (ctx.oidc.params?.["logout"] === undefined) return;
    const { accountId, authorizations } = ctx.oidc.session ?? {};
    if (accountId === undefined) return;
    for (const { sid } of Object.values(authorizations ?? {})) {
      if (sid === undefined) continue;
      const ended = revocations
        .revoke({ kind: "sid", value: sid })
        .catch((error: unknown) =>
          log.error({ err: error }, "the tokens of a session still count"),
        );
      requestScope.getStore()?.pending.push(ended);
    }
    recordEvent(options, { event: "login.logged_out", riskLevel: "LOW", accountId });
  });
  provider.on("authorization.success", (ctx) => {
    const accountId = ctx.oidc.session?.accountId;
    if (ctx.oidc.deviceCode === undefined || accountId === undefined) return;
    recordEvent(options, {
      event: "device.approved",
      riskLevel: "MEDIUM",
      accountId,
      ...clientDetails(ctx),
    });
  });
  provider.on("backchannel.error", (_ctx, error, client) => {
    log.warn({ err: error, client: client.clientId }, "a client was not told of a logout");
  });
  provider.on("server_error", (_ctx, error) => {
    if (!(error instanceof DatabaseUnavailable)) log.error({ err: error }, "the provider failed");
  });
  (provider as EventEmitter).on("error", (error: unknown) =>
    log.error({ err: error }, "the provider failed"),
  );
}

function clientDetails(ctx: KoaContextWithOIDC | undefined): {
  readonly details?: Readonly<Record<string, string>>;
} {
  const client = ctx?.oidc.client?.clientId;
  return client === undefined ? {} : { details: { client } };
}
