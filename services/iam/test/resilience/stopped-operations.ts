/** Creations and deletions at a running service, each of something of its own. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { ServiceAccountTables } from "../../src/ground/store/service-account-tables.ts";
import { LocalAccounts } from "../../src/people/accounts/local-accounts.ts";
import { relationship, write } from "../rights/rights-engine.ts";
import { databaseOf } from "../support/browser-login.ts";
import { type Answer, asUser, type IamService } from "../support/iam-service.ts";

/** The token of calls to make organizations. */
export const SYSTEM_TOKEN = "the-system-token-of-this-platform";

const AS_SYSTEM = { "X-Svc-Internal-Token": SYSTEM_TOKEN };
const GROUPS = "/v1/iam/organizations/acme/groups";
const ORGANIZATIONS = "/v1/iam/system/organizations";
const SERVICE_ACCOUNTS = "/v1/iam/service-accounts";
const WRITES = "/v1/iam/admin/relationships:write";

/** One operation. */
export interface Operation {
  act(): Promise<Answer>;
  /** Whether it has happened, as callers see it; an error is neither. */
  isDone(): Promise<boolean>;
  /** What another call answers if it has happened before. */
  readonly again: readonly number[];
}

/** Operations by their names. */
export type Operations = Readonly<Record<string, () => Promise<Operation>>>;

/** The operations that are stopped. */
export function stoppedOperations(service: () => IamService): Operations {
  const engine = () => service().options.engine as NonNullable<IamService["options"]["engine"]>;
  const relate = (...texts: string[]) => write(engine(), ...texts);
  async function isStored(text: string): Promise<boolean> {
    const { resource, relation, subject } = relationship(text);
    const filter = { resourceType: resource.type, resourceId: resource.id, relation, subject };
    return (await engine().readRelationships(filter)).items.length > 0;
  }
  async function addAccount(): Promise<string> {
    const id = randomUUID();
    const user = { username: id, displayName: id, email: `${id}@example.com`, passwordHash: "" };
    await new LocalAccounts(databaseOf(service()).kysely, "acme").create(user, id);
    return id;
  }
  /** A new owner of the zone, as each caller may make only so many calls a second. */
  async function owner(): Promise<Record<string, string>> {
    const id = await addAccount();
    await relate(`zone:acme#owner@user:${id}`);
    return asUser(id);
  }
  async function newGroup(by: Record<string, string>): Promise<string> {
    const { body } = await service().call("POST", GROUPS, { displayName: "Group" }, by);
    await relate(`group:${body.id}#member@user:root`);
    return body.id;
  }
  async function newServiceAccount(by: Record<string, string>): Promise<string> {
    const { body } = await service().call("POST", SERVICE_ACCOUNTS, { displayName: "Robot" }, by);
    await relate(`zone:acme#user_viewer@service_account:${body.id}`);
    return body.id;
  }
  const keysOf = (id: string) =>
    databaseOf(service())
      .as<ServiceAccountTables>()
      .kysely.selectFrom("iam_service_account_keys")
      .select("id")
      .where("account_id", "=", id)
      .execute();
  const key = () => ({ "Idempotency-Key": randomUUID() });
  /** Whether something is shown; an answer that is none fails. */
  async function isShown(path: string, by: Record<string, string>): Promise<boolean> {
    const { status } = await service().call("GET", path, undefined, by);
    expect(status).toBeOneOf([200, 403, 404]);
    return status === 200;
  }

  return {
    async "creation of a user"() {
      const [by, username] = [{ ...(await owner()), ...key() }, randomUUID()];
      const fields = { displayName: "User", email: `${username}@example.com` };
      const user = { username, ...fields, password: "correct horse battery staple" };
      return {
        act: () => service().call("POST", "/v1/users", user, by),
        isDone: async () => {
          const found = await databaseOf(service())
            .kysely.selectFrom("iam_users")
            .select("id")
            .where("username", "=", username)
            .execute();
          return found.length > 0;
        },
        again: [200],
      };
    },
    async "deletion of a user"() {
      const [by, id] = [await owner(), await addAccount()];
      await relate(`zone:acme#user_viewer@user:${id}`, `group:some#member@user:${id}`);
      const path = `/v1/users/${id}`;
      return {
        act: () => service().call("DELETE", path, undefined, by),
        isDone: async () => !(await isShown(path, by)),
        again: [404],
      };
    },
    async "creation of a group"() {
      const [by, displayName] = [{ ...(await owner()), ...key() }, randomUUID()];
      return {
        act: () => service().call("POST", GROUPS, { displayName }, by),
        isDone: async () => {
          const found = await databaseOf(service())
            .kysely.selectFrom("iam_groups")
            .select("id")
            .where("display_name", "=", displayName)
            .where("state", "=", "ready")
            .execute();
          for (const { id } of found) {
            expect(await isStored(`group:${id}#zone@zone:acme`)).toBe(true);
          }
          return found.length > 0;
        },
        again: [200],
      };
    },
    async "deletion of a group"() {
      const by = await owner();
      const id = await newGroup(by);
      await relate(`project:site#owner@group:${id}#member`, "project:site#owner@user:root");
      const path = `${GROUPS}/${id}`;
      return {
        act: () => service().call("DELETE", path, undefined, asUser("root")),
        isDone: async () => !(await isShown(path, by)),
        // It is hidden until the job has found out whether it is deleted.
        again: [403, 404],
      };
    },
    async "a new member"() {
      const by = await owner();
      const [id, user] = [await newGroup(by), await addAccount()];
      const member = { type: "user", id: user };
      return {
        act: () => service().call("POST", `${GROUPS}/${id}/members`, { member }, by),
        isDone: () => isStored(`group:${id}#member@user:${user}`),
        again: [200],
      };
    },
    async "a removal of a member"() {
      const by = await owner();
      const id = await newGroup(by);
      const member = { type: "user", id: "root" };
      return {
        act: () => service().call("POST", `${GROUPS}/${id}/members:remove`, { member }, by),
        isDone: async () => !(await isStored(`group:${id}#member@user:root`)),
        again: [200],
      };
    },
    async "a write of relationships"() {
      const by = await owner();
      const [id, user] = [await newGroup(by), await addAccount()];
      const texts = [`group:${id}#viewer@user:${user}`, `group:${id}#manager@user:${user}`];
      await relate(`group:${id}#viewer@user:root`);
      const deletions = [relationship(`group:${id}#viewer@user:root`)];
      return {
        act: () =>
          service().call("POST", WRITES, { relationships: texts.map(relationship), deletions }, by),
        isDone: async () => {
          const written = [await isStored(texts[0] ?? ""), await isStored(texts[1] ?? "")];
          // All or none.
          const isGone = !(await isStored(`group:${id}#viewer@user:root`));
          expect(new Set([...written, isGone]).size).toBe(1);
          return isGone;
        },
        again: [200],
      };
    },
    async "creation of a service account"() {
      const [by, displayName] = [{ ...(await owner()), ...key() }, randomUUID()];
      return {
        act: () => service().call("POST", SERVICE_ACCOUNTS, { displayName }, by),
        isDone: async () => {
          const found = await databaseOf(service())
            .as<ServiceAccountTables>()
            .kysely.selectFrom("iam_service_accounts")
            .select("id")
            .where("display_name", "=", displayName)
            .execute();
          expect(found.length).toBeLessThan(2);
          return found.length > 0;
        },
        again: [200],
      };
    },
    async "deletion of a service account"() {
      const by = await owner();
      const id = await newServiceAccount(by);
      const path = `${SERVICE_ACCOUNTS}/${id}`;
      await service().call("POST", `${path}/keys`, {}, by);
      return {
        act: () => service().call("DELETE", path, undefined, by),
        isDone: async () => {
          const isGone = !(await isShown(path, by));
          // Its keys end with it.
          expect((await keysOf(id)).length).toBe(isGone ? 0 : 1);
          return isGone;
        },
        again: [404],
      };
    },
    async "creation of a key"() {
      const by = await owner();
      const [path, keyed] = [await newServiceAccount(by), { ...by, ...key() }];
      return {
        act: () => service().call("POST", `${SERVICE_ACCOUNTS}/${path}/keys`, {}, keyed),
        isDone: async () => {
          const keys = await keysOf(path);
          expect(keys.length).toBeLessThan(2);
          return keys.length > 0;
        },
        again: [200],
      };
    },
    async "deletion of a key"() {
      const by = await owner();
      const id = await newServiceAccount(by);
      const { body } = await service().call("POST", `${SERVICE_ACCOUNTS}/${id}/keys`, {}, by);
      const path = `${SERVICE_ACCOUNTS}/${id}/keys/${body.key.id}`;
      return {
        act: () => service().call("DELETE", path, undefined, by),
        isDone: async () => (await keysOf(id)).length === 0,
        again: [404],
      };
    },
    async "creation of an organization"() {
      const [organizationId, user] = [randomUUID(), await addAccount()];
      const owner = { type: "user", id: user };
      const body = { organizationId, displayName: "Organization", owner };
      return {
        act: () => service().call("POST", ORGANIZATIONS, body, AS_SYSTEM),
        isDone: async () => {
          const isThere = await isShown(`${ORGANIZATIONS}/${organizationId}`, AS_SYSTEM);
          if (isThere)
            expect(await isStored(`zone:${organizationId}#owner@user:${user}`)).toBe(true);
          return isThere;
        },
        again: [409],
      };
    },
    async "deletion of an organization"() {
      const [organizationId, user] = [randomUUID(), await addAccount()];
      const owner = { type: "user", id: user };
      const body = { organizationId, displayName: "Organization", owner };
      expect((await service().call("POST", ORGANIZATIONS, body, AS_SYSTEM)).status).toBe(200);
      const path = `${ORGANIZATIONS}/${organizationId}`;
      return {
        act: () => service().call("DELETE", path, undefined, AS_SYSTEM),
        isDone: async () => !(await isShown(path, AS_SYSTEM)),
        again: [404],
      };
    },
  };
}
