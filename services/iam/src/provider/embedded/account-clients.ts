import { randomBytes } from "node:crypto";
import type { ClientMetadata } from "oidc-provider";
import { asUnavailable } from "../../ground/store/provider-database.ts";
import type { ServiceAccountLogin } from "../../people/accounts/service-accounts/service-account.ts";
import { clientMetadata } from "./client-metadata.ts";
import { ACCOUNT_PROPERTY, type ServiceAccountLogins } from "./service-accounts/account-client.ts";

/** `oidc-provider` wants a secret for clients that have one; secrets are compared by their hashes instead. */
const NOBODY_HAS_IT = randomBytes(32).toString("base64url");

/**
 * Finds clients that the configuration does not declare. Each request reads the database, so that a
 * change counts at once, at every replica.
 */
export class ClientAdapter {
  readonly #accounts: ServiceAccountLogins | undefined;
  readonly #hasAssertion: () => boolean;

  /** @param hasAssertion whether the request under way authenticates by an assertion */
  constructor(accounts: ServiceAccountLogins | undefined, hasAssertion: () => boolean) {
    this.#accounts = accounts;
    this.#hasAssertion = hasAssertion;
  }

  /** The metadata of a service account. */
  async find(id: string): Promise<ClientMetadata | undefined> {
    try {
      const login = await this.#accounts?.findForLogin(id);
      return login && accountClientMetadata(login, { hasAssertion: this.#hasAssertion() });
    } catch (error) {
      throw asUnavailable(error);
    }
  }
}

/**
 * The metadata of a service account for `oidc-provider`. A client has one way to authenticate there, and
 * an account may have secrets and public keys at once: the way is the one that the request tries.
 */
function accountClientMetadata(
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
