import type { Client, KoaContextWithOIDC, Provider } from "oidc-provider";

type Oidc = Pick<typeof import("oidc-provider"), "errors" | "Provider">;

const DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code";

/**
 * Has `oidc-provider` refuse a grant that the client may not use as `unauthorized_client` (RFC 6749, section 5.2). It
 * called the request invalid, as if another one of the client could succeed.
 */
export function refuseOtherGrants(provider: Provider, { errors, Provider }: Oidc): void {
  const { prototype } = provider.Client;
  const isAllowed = prototype.grantTypeAllowed;
  prototype.grantTypeAllowed = function allowed(this: Client, type) {
    if (isAllowed.call(this, type)) return true;
    // It also asks whether to issue a refresh token.
    if (type !== usedGrant(Provider.ctx as KoaContextWithOIDC | undefined)) return false;
    throw new errors.UnauthorizedClient(`the client may not use the grant type ${type}`);
  };
}

/** The grant of a request; undefined where none is used. */
function usedGrant(ctx: KoaContextWithOIDC | undefined): unknown {
  if (ctx?.oidc.route === "device_authorization") return DEVICE_CODE;
  return ctx?.oidc.route === "token" ? ctx.oidc.params?.["grant_type"] : undefined;
}
