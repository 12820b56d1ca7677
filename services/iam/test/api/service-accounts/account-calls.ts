import { randomUUID } from "node:crypto";
import * as client from "openid-client";
import { LocalAccounts } from "../../../src/people/accounts/local-accounts.ts";
import { databaseOf } from "../../support/browser-login.ts";
import { type Answer, asUser, type IamService } from "../../support/iam-service.ts";
import { relate } from "../../support/passwords.ts";

export const ACCOUNTS = "/v1/iam/service-accounts";
/** The audience of svc-iam in these tests. */
export const OWN = "urn:acme:iam";

/** A service account that was made, with its secret. */
export interface Made {
  readonly id: string;
  readonly keyId: string;
  readonly secret: string;
}

/** Calls of IAMServiceAccountService at a running service. */
export class AccountCalls {
  readonly #iam: () => IamService;

  constructor(iam: () => IamService) {
    this.#iam = iam;
  }

  /** The headers of a new user with a relation to the zone; each time another one, since callers are limited. */
  async as(relation: string): Promise<Record<string, string>> {
    const id = randomUUID();
    const account = { username: id, displayName: id, email: "m@example.com", passwordHash: "none" };
    await new LocalAccounts(databaseOf(this.#iam()).kysely, "acme").create(account, id);
    if (relation !== "") await relate(this.#iam(), relation, id);
    return asUser(id);
  }

  async call(
    method: string,
    path: string,
    body?: object,
    relation = "user_manager",
  ): Promise<Answer> {
    return this.#iam().call(method, `${ACCOUNTS}${path}`, body, await this.as(relation));
  }

  /** Creates an account that must be made. */
  async make(fields: object = {}): Promise<string> {
    return must(await this.call("POST", "", { displayName: "Robot", audience: [OWN], ...fields }))
      .id;
  }

  /** Creates an account with a secret. */
  async makeWithSecret(fields: object = {}): Promise<Made> {
    const id = await this.make(fields);
    return { id, ...(await this.addSecret(id)) };
  }

  /** Gives an account another secret. */
  async addSecret(id: string, more: object = {}, relation?: string) {
    const { key, secret } = must(await this.call("POST", `/${id}/keys`, more, relation));
    return { keyId: key.id as string, secret: secret as string };
  }

  /** Gives an account a relation to the zone. */
  async relateAccount(id: string, relation: string): Promise<void> {
    const relationship = {
      resource: { type: "zone", id: "acme" },
      relation,
      subject: { type: "service_account", id },
    };
    const updates = [{ operation: "TOUCH", relationship } as const];
    await this.#iam().options.engine?.writeRelationships({ updates });
  }

  /** A client of another vendor for an account. */
  configure(id: string, authentication: client.ClientAuth): Promise<client.Configuration> {
    return configureAt(`${this.#iam().origin}/v1/iam/oidc`, id, authentication);
  }

  /** Gets a token of an account with a secret. */
  async token(id: string, secret: string): Promise<string> {
    const configuration = await this.configure(id, client.ClientSecretBasic(secret));
    return (await client.clientCredentialsGrant(configuration)).access_token;
  }

  /** The status of a call of svc-iam with a token. */
  async use(token: string): Promise<number> {
    const headers = { authorization: `Bearer ${token}` };
    return (await this.#iam().call("GET", "/v1/iam/me", undefined, headers)).status;
  }
}

/** A client of another vendor at a provider. */
export function configureAt(issuer: string, id: string, authentication: client.ClientAuth) {
  return client.discovery(new URL(issuer), id, undefined, authentication, {
    execute: [client.allowInsecureRequests],
  });
}

/** The body of an answer that must be good. */
export function must({ status, body }: Answer): any {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}
