import type { KoaContextWithOIDC } from "oidc-provider";
import { grantable } from "./load-grant.ts";

type OidcErrors = Pick<typeof import("oidc-provider")["errors"], "InvalidScope">;

const MISSING = "no scope can be granted: send scope=openid, with profile and email as needed";

/**
 * Refuses a request for a login by which no scope can be granted: `oidc-provider` did so once the person had entered
 * the password.
 *
 * @throws InvalidScope
 */
export function refuseWithoutScope({ oidc }: KoaContextWithOIDC, errors: OidcErrors): void {
  if (grantable(oidc.requestParamScopes).length > 0) return;
  // Without the scope that it would send back: there may be none.
  throw new errors.InvalidScope(MISSING, undefined as never);
}
