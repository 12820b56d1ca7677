import type { ClientMetadata } from "oidc-provider";
import { asUnavailable } from "../../store/provider-database.ts";
import { accountClientMetadata } from "./account-metadata.ts";
import type { ServiceAccountLogins } from "./service-accounts/account-client.ts";

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
