import { type CallContext, ServiceError } from "svc-access/runtime";
import type { ServiceAccount } from "../../people/accounts/service-accounts/service-account.ts";
import type { ServiceAccounts } from "../../people/accounts/service-accounts/service-accounts.ts";
import type { ClientDeclaration } from "../../provider/embedded/client-declaration.ts";
import { assertOwnOrganization } from "../own-organization.ts";
import { isDeclared, noAccount } from "./service-account-errors.ts";

/** A service account of the configuration: what of it is shown. */
export type DeclaredAccount = Pick<ServiceAccount, "id" | "displayName" | "audience">;

/** A service account of either kind. */
export type KnownAccount =
  | { readonly declared: false; readonly account: ServiceAccount }
  | { readonly declared: true; readonly account: DeclaredAccount };

/** The service accounts that administrators have made, and those of the configuration. */
export class KnownAccounts {
  readonly #accounts: Pick<ServiceAccounts, "find" | "list">;
  readonly #clients: () => readonly ClientDeclaration[];
  readonly #organization: string;

  /**
   * @param clients those of the moment
   * @param organization `iam.organization`: whose service accounts they are
   */
  constructor(
    accounts: Pick<ServiceAccounts, "find" | "list">,
    clients: () => readonly ClientDeclaration[],
    organization: string,
  ) {
    this.#accounts = accounts;
    this.#organization = organization;
    this.#clients = clients;
  }

  get #declared(): readonly KnownAccount[] {
    return this.#clients()
      .filter(({ flows }) => flows.includes("service_account"))
      .map(({ id, name, audience = [] }) => ({
        declared: true as const,
        account: { id, displayName: name, audience },
      }));
  }

  /**
   * The account whom a request names; the audit names it.
   *
   * @throws ServiceError FORBIDDEN, INVALID_ARGUMENT or RESOURCE_NOT_FOUND
   */
  async named(id: string, context: CallContext): Promise<KnownAccount> {
    assertOwnOrganization(context, this.#organization);
    if (id === "") throw new ServiceError("INVALID_ARGUMENT", "service_account_id is required");
    const declared = this.#declared.find(({ account }) => account.id === id);
    const account = declared === undefined ? await this.#accounts.find(id) : undefined;
    const known = declared ?? (account && { declared: false as const, account });
    if (known === undefined) throw noAccount();
    context.audit.setResource(`service_account:${id}`);
    return known;
  }

  /** The same, of one that can be changed. @throws ServiceError, also FAILED_PRECONDITION */
  async changeable(id: string, context: CallContext): Promise<ServiceAccount> {
    const { declared, account } = await this.named(id, context);
    if (declared) throw isDeclared();
    return account;
  }

  /** Accounts by id, as `ServiceAccounts.list` has them. */
  async list(after: string, limit: number): Promise<readonly KnownAccount[]> {
    const made = await this.#accounts.list(after, limit);
    const all: readonly KnownAccount[] = [
      ...made.map((account) => ({ declared: false as const, account })),
      ...this.#declared.filter(({ account }) => account.id > after),
    ];
    return all
      .toSorted((one, other) => (one.account.id < other.account.id ? -1 : 1))
      .slice(0, limit);
  }
}
