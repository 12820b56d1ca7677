import { makeFirstOwner } from "./first-owner.ts";
import { type JsonCall, mustCall } from "./json-call.ts";
import { ORGANIZATION, type PlatformPlan } from "./programs.ts";
import type { Seeded } from "./state.ts";

/** What svc-iam begins with. */
export interface SeededIam extends Pick<Seeded, "users" | "account"> {
  /** The id of the group of carol. */
  readonly group: string;
}

/** The service that tokens of service accounts are for: `audience` of both services. */
const AUDIENCE = "urn:acme:platform";

/** The headers by which an edge names a caller. In development, services accept them of this machine. */
export function callerHeaders(userId: string): Readonly<Record<string, string>> {
  return { "x-svc-external-sub": userId, "x-svc-external-owner": ORGANIZATION };
}

/**
 * Makes users, a group, a relationship and a service account with the API of svc-iam, as the owner of
 * the zone. What is there already, from a start that did not complete, is kept.
 */
export async function seedIam(
  plan: PlatformPlan,
  password: string,
  signal: AbortSignal,
): Promise<SeededIam> {
  const person = (name: string) => ({
    username: name.toLowerCase(),
    display_name: name,
    email: `${name.toLowerCase()}@example.com`,
    password,
  });
  const alice = await makeFirstOwner(plan, person("Alice"), signal);
  const api = new IamApi(plan.addresses.iam, alice, signal);
  const bob = await api.user(person("Bob"));
  const carol = await api.user(person("Carol"));
  const group = await api.group("Engineers");
  await api.addMember(group, { type: "user", id: carol });
  await api.writeRelationship({
    resource: { type: "zone", id: ORGANIZATION },
    relation: "user_viewer",
    subject: { type: "group#member", id: group },
  });
  const account = await api.serviceAccount("Reporter");
  return { users: { alice, bob, carol }, group, account };
}

interface Named {
  readonly id: string;
  readonly username?: string;
  readonly displayName?: string;
}

/** The API of svc-iam, for the owner of the zone. */
class IamApi {
  readonly #origin: string;
  readonly #signal: AbortSignal;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(origin: string, caller: string, signal: AbortSignal) {
    this.#origin = origin;
    this.#signal = signal;
    this.#headers = callerHeaders(caller);
  }

  async user(user: { readonly username: string }): Promise<string> {
    const { users = [] } = await this.#call("/v1/users?page_size=1000");
    const known = users.find(({ username }: Named) => username === user.username);
    return (known ?? (await this.#call("/v1/users", { body: user }))).id;
  }

  async group(name: string): Promise<string> {
    const path = `/v1/iam/organizations/${ORGANIZATION}/groups`;
    const { groups = [] } = await this.#call(`${path}:visible`);
    const known = groups.find(({ displayName }: Named) => displayName === name);
    return (known ?? (await this.#call(path, { body: { display_name: name } }))).id;
  }

  /** Adds a member; one that is there stays. */
  async addMember(group: string, member: object): Promise<void> {
    const path = `/v1/iam/organizations/${ORGANIZATION}/groups/${group}/members`;
    await this.#call(path, { body: { member } });
  }

  async writeRelationship(relationship: object): Promise<void> {
    const body = { relationships: [relationship] };
    await this.#call("/v1/iam/admin/relationships:write", { body });
  }

  /** A service account with a new key: the secret of an earlier one is known to nobody. */
  async serviceAccount(name: string): Promise<Seeded["account"]> {
    const path = "/v1/iam/service-accounts";
    const { serviceAccounts = [] } = await this.#call(path);
    const known = serviceAccounts.find(({ displayName }: Named) => displayName === name);
    const body = { display_name: name, audience: [AUDIENCE] };
    const { id } = known ?? (await this.#call(path, { body }));
    const { secret } = await this.#call(`${path}/${id}/keys`, { body: {} });
    return { id, secret };
  }

  #call(path: string, call: Omit<JsonCall, "signal" | "headers"> = {}) {
    const options = { ...call, headers: this.#headers, signal: this.#signal };
    return mustCall(`${this.#origin}${path}`, options);
  }
}
