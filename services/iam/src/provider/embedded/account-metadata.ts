import { randomBytes } from "node:crypto";
import type { ClientMetadata } from "oidc-provider";
import type { ServiceAccountLogin } from "../../accounts/service-accounts/service-account.ts";
import { clientMetadata } from "./client-metadata.ts";
import { ACCOUNT_PROPERTY } from "./service-accounts/account-client.ts";

/** `oidc-provider` wants a secret for clients that have one; secrets are compared by their hashes instead. */
const NOBODY_HAS_IT = randomBytes(32).toString("base64url");

/**
 * The metadata of a service account for `oidc-provider`. A client has one way to authenticate there, and
 * an account may have secrets and public keys at once: the way is the one that the request tries.
 */
export function accountClientMetadata(
  login: ServiceAccountLogin,
  { hasAssertion }: { readonly hasAssertion: boolean },
): ClientMetadata {
  const { account, keys } = login;
  const publicKeys = keys.flatMap(({ publicKey }) => (publicKey === undefined ? [] : [publicKey]));
  const isSigned = publicKeys.length > 0 && (hasAssertion || publicKeys.length === keys.length);
  const metadata = clientMetadata({
    id: account.id,
    name: account.displayName,
    flows: ["service_account"],
    redirectUris: [],
    postLogoutRedirectUris: [],
    asksConsent: true,
    ...(isSigned ? { publicKeys } : { secret: NOBODY_HAS_IT }),
  });
  return { ...metadata, [ACCOUNT_PROPERTY]: login };
}
