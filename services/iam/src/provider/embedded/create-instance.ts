import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { PROVIDER_PATH } from "../../config/provider-paths.ts";
import type { Pages } from "../../pages/provider-pages.ts";
import { SECURITY_HEADERS } from "../../pages/security-headers.ts";
import { adapterContext } from "./adapter/adapter-context.ts";
import type { ProviderStores } from "./adapter/provider-stores.ts";
import { type EmbeddedProviderOptions, LOGIN_TIMES } from "./embedded-options.ts";
import type { SigningKey } from "./keys/signing-keys.ts";
import { listen } from "./listen.ts";
import type { LogoutNotices } from "./logout-notices.ts";
import { notifyLater } from "./notify-clients.ts";
import { oidcConfiguration } from "./oidc-configuration.ts";
import { refuseOtherGrants } from "./request/grant-types.ts";
import { describeFailure } from "./request/provider-failure.ts";
import { requestScope } from "./request/request-scope.ts";
import { declareResponseMode, refuseResponseTypes } from "./response-forms.ts";
import { compareHashes } from "./service-accounts/used-key.ts";
import { acceptOwnForms, logoutOfNobody, storeFewSessions } from "./visitor-sessions.ts";

type Oidc = typeof import("oidc-provider");

/** What all instances share, besides what they store. */
export interface InstanceParts {
  readonly pages: Pages;
  readonly notices: LogoutNotices;
}

/**
 * Makes a provider with keys that never change; when they do, another one takes its place. All its state
 * is in the database.
 */
export function createInstance(
  oidc: Oidc,
  options: EmbeddedProviderOptions,
  keys: readonly SigningKey[],
  stores: ProviderStores,
  { pages, notices }: InstanceParts,
): Provider {
  const context = adapterContext(oidc, options, stores);
  const configuration = oidcConfiguration({
    options,
    keys,
    stores,
    context,
    pages,
    errors: oidc.errors,
    policy: oidc.interactionPolicy,
  });
  const provider = new oidc.Provider(`${options.publicUrl}${PROVIDER_PATH}`, configuration);
  fixOrigin(provider, options.publicUrl);
  acceptOwnForms(provider);
  storeFewSessions(provider, () => oidc.Provider.ctx as KoaContextWithOIDC | undefined);
  // All access tokens name their session, not only those of clients with back-channel logout.
  (provider.Client.prototype as unknown as { includeSid(): boolean }).includeSid = () => true;
  refuseResponseTypes(provider);
  refuseOtherGrants(provider, oidc);
  provider.use(async (ctx, next) => {
    ctx.set(HEADERS);
    const required = () => Promise.all(requestScope.getStore()?.required ?? []);
    const done = next().then(required);
    // Thrown by what stores the session, or ends tokens, after the page was made.
    await done.catch(async (error: unknown) => {
      clear(ctx as KoaContextWithOIDC);
      if (error instanceof oidc.errors.SessionNotFound)
        await endedLogin(ctx as KoaContextWithOIDC, pages, error);
      else await failed(ctx as KoaContextWithOIDC, error, { pages, provider });
    });
    // The response waits for what must be stored.
    await Promise.all(requestScope.getStore()?.pending ?? []);
    await answerLogoutOfNobody(ctx as KoaContextWithOIDC, pages);
    await pages.continueByHand(ctx as KoaContextWithOIDC);
    declareResponseMode(ctx as KoaContextWithOIDC);
    keepBrowser(ctx as KoaContextWithOIDC, options);
  });
  compareHashes(provider);
  notifyLater(provider, notices);
  listen(provider, options, stores);
  return provider;
}

/** The cookies of a login or session count together with that of the browser, which lasts as long as they. */
function keepBrowser(
  ctx: KoaContextWithOIDC,
  { loginTimes = LOGIN_TIMES }: EmbeddedProviderOptions,
) {
  const { browser } = requestScope.getStore() ?? {};
  if (browser === undefined || !ctx.res.hasHeader("set-cookie")) return;
  ctx.append("Set-Cookie", browser.cookieLine(Math.floor(loginTimes.absoluteMs / 1000)));
}

/** Nobody is asked whether to end a login that there is not. */
async function answerLogoutOfNobody(ctx: KoaContextWithOIDC, pages: Pages): Promise<void> {
  const answer = logoutOfNobody(ctx);
  if (answer === undefined) return;
  clear(ctx);
  if (answer.location === undefined) return pages.loggedOut(ctx);
  ctx.status = 303;
  ctx.redirect(answer.location);
}

/** Whether a response is cached is decided before: the key set is. */
const { "Cache-Control": _, ...FIXED } = SECURITY_HEADERS;
const HEADERS = { ...FIXED, "X-Content-Type-Options": "nosniff" };

/** Headers that belong to each response of the provider. */
const GENERAL: ReadonlySet<string> = new Set([
  ...Object.keys(HEADERS).map((name) => name.toLowerCase()),
  "cache-control",
  "vary",
  "x-request-id",
]);

/** Takes a response back that was made. Pages of other origins may also read the one in its place. */
function clear({ res }: KoaContextWithOIDC): void {
  for (const name of res.getHeaderNames()) {
    if (!GENERAL.has(name) && !name.startsWith("access-control-")) res.removeHeader(name);
  }
}

/** The response to a login that was ended while it was completed. */
function endedLogin(ctx: KoaContextWithOIDC, pages: Pages, cause: Error): Promise<void> {
  ctx.status = 400;
  const error_description = "The login was ended while it was under way. Begin it again.";
  return pages.error(ctx, { error: "invalid_request", error_description }, cause);
}

/** The response to a request that has failed where `oidc-provider` answers no errors. */
async function failed(
  ctx: KoaContextWithOIDC,
  error: unknown,
  { pages, provider }: { readonly pages: Pages; readonly provider: Provider },
): Promise<void> {
  const described = describeFailure(ctx, error);
  if (ctx.accepts("json", "html") === "html") await pages.error(ctx, described);
  else ctx.body = described;
  provider.emit("server_error", ctx, error as Error);
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
