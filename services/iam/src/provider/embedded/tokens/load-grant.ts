import { randomUUID } from "node:crypto";
import type { Grant, KoaContextWithOIDC } from "oidc-provider";
import { keepAuthorization } from "../request/kept-authorization.ts";
import { RESOURCE, SCOPES } from "./scopes.ts";

/**
 * The grant of the person to the client: that of their session, or of the consent they have just
 * given. A client that needs no consent gets a new one.
 */
export async function loadGrant(
  ctx: KoaContextWithOIDC,
  clients: ReadonlyMap<string, { readonly asksConsent: boolean }>,
): Promise<Grant | undefined> {
  const { oidc } = ctx;
  const clientId = oidc.client?.clientId ?? "";
  const accountId = oidc.account?.accountId ?? "";
  // A device has a grant of its own, and ends alone.
  if (oidc.deviceCode !== undefined) keepAuthorization(oidc.session, clientId);
  const before = oidc.deviceCode === undefined ? oidc.session?.grantIdFor(clientId) : undefined;
  const known = oidc.result?.consent?.grantId ?? before;
  const found = known === undefined ? undefined : await oidc.provider.Grant.find(known);
  // Of the user who was logged in before.
  const grant = found?.accountId === accountId ? found : undefined;
  // It was ended, and with it the tokens by their `sid`.
  if (known !== undefined && found === undefined) oidc.session?.sidFor(clientId, randomUUID());
  if (clients.get(clientId)?.asksConsent !== false) return grant;
  const wanted = grantable(oidc.requestParamScopes);
  const has = new Set(grant?.getOIDCScope().split(" "));
  if (grant !== undefined && wanted.every((scope) => has.has(scope))) return grant;
  const extended = grant ?? new oidc.provider.Grant({ accountId, clientId });
  grantScopes(extended, wanted);
  await extended.save();
  return extended;
}

/** Those of the scopes that exist. */
export function grantable(scopes: Iterable<string>): string[] {
  const known: ReadonlySet<string> = new Set(SCOPES);
  return [...scopes].filter((scope) => known.has(scope));
}

/** Adds scopes to a grant, for ID tokens and for access tokens. */
export function grantScopes(grant: Grant, scopes: readonly string[]): void {
  if (scopes.length === 0) return;
  grant.addOIDCScope(scopes.join(" "));
  grant.addResourceScope(RESOURCE, scopes.join(" "));
}
