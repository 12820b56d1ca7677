import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import type { Pages } from "../../pages/provider-pages.ts";
import { adapterContext } from "./adapter/adapter-context.ts";
import type { ProviderStores } from "./adapter/provider-stores.ts";
import { type EmbeddedProviderOptions, PROVIDER_PATH } from "./embedded-options.ts";
import type { SigningKey } from "./keys/signing-keys.ts";
import { listen } from "./listen.ts";
import { oidcConfiguration } from "./oidc-configuration.ts";
import { requestScope } from "./request/request-scope.ts";
import { compareHashes } from "./service-accounts/used-key.ts";

type Oidc = typeof import("oidc-provider");

/**
 * Makes a provider with keys that never change; when they do, another one takes its place. All its state
 * is in the database.
 */
export function createInstance(
  oidc: Oidc,
  options: EmbeddedProviderOptions,
  keys: readonly SigningKey[],
  stores: ProviderStores,
  pages: Pages,
): Provider {
  const context = adapterContext(oidc, options, stores);
  const configuration = oidcConfiguration({
    options,
    keys,
    stores,
    context,
    pages,
    errors: oidc.errors,
  });
  const provider = new oidc.Provider(`${options.publicUrl}${PROVIDER_PATH}`, configuration);
  fixOrigin(provider, options.publicUrl);
  ignoreUnsavedSessions(provider);
  // All access tokens name their session, not only those of clients with back-channel logout.
  (provider.Client.prototype as unknown as { includeSid(): boolean }).includeSid = () => true;
  provider.use(async (ctx, next) => {
    ctx.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    ctx.set("Referrer-Policy", "no-referrer");
    await next().catch((error: unknown) => {
      // Thrown by what stores the session, after the page was made.
      if (!(error instanceof oidc.errors.SessionNotFound)) throw error;
      endedLogin(ctx as KoaContextWithOIDC, pages);
    });
    // The response waits for what must be stored.
    await Promise.all(requestScope.getStore()?.pending ?? []);
    pages.continueByHand(ctx as KoaContextWithOIDC);
  });
  compareHashes(provider);
  listen(provider, options, stores);
  return provider;
}

/**
 * Lets a request without a session have an error page: `oidc-provider` 9.13 answers it with 500 where
 * the page has a form, since it persists a session that was never saved.
 */
function ignoreUnsavedSessions(provider: Provider): void {
  const { prototype } = provider.Session as unknown as { prototype: UnsavedSession };
  const { persist } = prototype;
  prototype.persist = async function (this: UnsavedSession) {
    return this.exp === undefined ? undefined : persist.call(this);
  };
}

/** A session of `oidc-provider`. */
interface UnsavedSession {
  /** When it expires; undefined before it is saved. */
  readonly exp?: number;
  persist(): Promise<unknown>;
}

/** The response to a login that was ended while it was completed: nothing of the response before remains. */
function endedLogin(ctx: KoaContextWithOIDC, pages: Pages): void {
  for (const name of ctx.res.getHeaderNames()) ctx.res.removeHeader(name);
  ctx.status = 400;
  pages.error(ctx, {
    error: "invalid_request",
    error_description: "The login was ended while it was under way. Begin it again.",
  });
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
