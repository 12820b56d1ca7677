import { compactVerify, decodeProtectedHeader, importJWK, type JWK } from "jose";
import type { Client, KoaContextWithOIDC, Provider } from "oidc-provider";
import { isSecretOf } from "../../../people/accounts/service-accounts/key-secret.ts";
import type { ServiceAccountKey } from "../../../people/accounts/service-accounts/service-account.ts";
import { requestScope } from "../request/request-scope.ts";
import { serviceAccountOf } from "./account-client.ts";

type OidcErrors = typeof import("oidc-provider")["errors"];

/** A client of `oidc-provider`; its types omit the method. */
interface ComparingClient {
  compareClientSecret(this: Client, secret: string): boolean | Promise<boolean>;
}

/** Compares the secrets of service accounts with their hashes, and remembers which one was used. */
export function compareHashes(provider: Provider): void {
  const prototype = provider.Client.prototype as unknown as ComparingClient;
  const { compareClientSecret } = prototype;
  prototype.compareClientSecret = function (this: Client, secret) {
    const login = serviceAccountOf(this);
    if (login === undefined) return compareClientSecret.call(this, secret);
    // All of them, so that the time does not show which one matches.
    const matching = login.keys.filter(
      ({ secretHash }) => secretHash !== undefined && isSecretOf(secret, secretHash),
    );
    return remember(matching[0]);
  };
}

/**
 * Remembers with which public key of a service account an assertion was signed that `oidc-provider` has
 * accepted.
 *
 * @throws InvalidClientAuth if it was none of them
 */
export async function rememberSigner(
  { oidc }: KoaContextWithOIDC,
  client: Client,
  errors: OidcErrors,
): Promise<void> {
  const login = serviceAccountOf(client);
  if (login === undefined) return;
  const assertion = String(oidc.params?.["client_assertion"]);
  for (const key of login.keys) {
    if (await isSignedWith(assertion, key)) return void remember(key);
  }
  throw new errors.InvalidClientAuth(
    "the client assertion was not signed with a key of the account",
  );
}

function remember(key: ServiceAccountKey | undefined): boolean {
  const scope = requestScope.getStore();
  if (scope === undefined || key === undefined) return false;
  scope.usedKey = key;
  return true;
}

async function isSignedWith(assertion: string, { publicKey }: ServiceAccountKey): Promise<boolean> {
  if (publicKey === undefined) return false;
  try {
    const { alg = "", kid } = decodeProtectedHeader(assertion);
    if (kid !== undefined && kid !== publicKey["kid"]) return false;
    await compactVerify(assertion, await importJWK(publicKey as JWK, alg), { algorithms: [alg] });
    return true;
  } catch {
    // Such as a key of another type than the algorithm.
    return false;
  }
}
