/** Service accounts of several replicas, which share a database. */
import { randomUUID } from "node:crypto";
import * as client from "openid-client";
import { DatabaseError, type ServiceDatabase } from "svc-access/database";
import { afterAll, describe, expect, test } from "vitest";
import type { ServiceAccountTables } from "../../../src/ground/store/service-account-tables.ts";
import {
  hashOfSecret,
  makeSecret,
} from "../../../src/people/accounts/service-accounts/key-secret.ts";
import {
  addKey,
  removeKeys,
} from "../../../src/people/accounts/service-accounts/service-account-keys.ts";
import { ServiceAccounts } from "../../../src/people/accounts/service-accounts/service-accounts.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";
import { startProvider, stopAll } from "../../support/provider-server.ts";
import { configureAt } from "./account-calls.ts";

const databases: readonly (readonly [string, (() => Promise<TestDatabase>) | undefined])[] = [
  ["SQLite", sqlite],
  ["PostgreSQL", await postgres()],
];
afterAll(stopAll);

const tablesOf = (database: TestDatabase) =>
  database.open() as unknown as ServiceDatabase<ServiceAccountTables>;

describe.each(databases.filter(([, make]) => make !== undefined))("with %s", (_, make) => {
  test("another replica sees a new account, a new key and their end at once [IAM-38]", async () => {
    const at = await (make as () => Promise<TestDatabase>)();
    const [first, second] = [tablesOf(at), tablesOf(at)];
    const accounts = new ServiceAccounts(first);
    const serviceAccounts = new ServiceAccounts(second);
    const replica = await startProvider({ at, serviceAccounts });
    const issuer = replica.issuer;
    const tokenOf = async (id: string, secret: string) => {
      const configuration = await configureAt(issuer, id, client.ClientSecretBasic(secret));
      return (await client.clientCredentialsGrant(configuration)).access_token;
    };
    const fields = { displayName: "Robot", audience: [] };
    const { id } = await accounts.create(first.kysely, fields);
    const [one, two] = [makeSecret(), makeSecret()];
    await expect(tokenOf(id, one)).rejects.toMatchObject({ status: 401 });

    const keyOf = (secret: string, expireTime?: number) => ({
      id: randomUUID(),
      credential: { secretHash: hashOfSecret(secret) },
      expireTime,
    });
    const key = keyOf(one);
    await addKey(first.kysely, id, key, accounts.time());
    await addKey(first.kysely, id, keyOf(two, Date.now() + 3_600_000), accounts.time());
    expect(await tokenOf(id, one)).toMatch(/\./);
    expect(await tokenOf(id, two)).toMatch(/\./);

    await removeKeys(first.kysely, id, key.id);
    await expect(tokenOf(id, one)).rejects.toMatchObject({ status: 401 });
    expect(await tokenOf(id, two)).toMatch(/\./);
    await accounts.change(first.kysely, id, { disabled: true });
    await expect(tokenOf(id, two)).rejects.toMatchObject({ status: 401 });
    await accounts.change(first.kysely, id, { disabled: false });
    expect(await tokenOf(id, two)).toMatch(/\./);
    await accounts.markDeleted(first.kysely, id);
    await expect(tokenOf(id, two)).rejects.toMatchObject({ status: 401 });
  });
});

test("a token that was about to be issued when its key was deleted does not count [IAM-33]", async () => {
  const at = await sqlite();
  const database = tablesOf(at);
  const accounts = new ServiceAccounts(database);
  const { id } = await accounts.create(database.kysely, { displayName: "Robot", audience: [] });
  const [secret, other] = [makeSecret(), makeSecret()];
  const credential = { secretHash: hashOfSecret(secret) };
  const key = { id: randomUUID(), credential, expireTime: undefined };
  await addKey(database.kysely, id, key, accounts.time());
  const kept = { ...key, id: randomUUID(), credential: { secretHash: hashOfSecret(other) } };
  await addKey(database.kysely, id, kept, accounts.time());
  let afterLookup: (() => Promise<void>) | undefined;
  const { provider, issuer } = await startProvider({
    at,
    serviceAccounts: {
      async findForLogin(clientId) {
        const login = await accounts.findForLogin(clientId);
        await afterLookup?.();
        return login;
      },
    },
  });
  const configuration = await configureAt(issuer, id, client.ClientSecretBasic(secret));
  afterLookup = async () => {
    afterLookup = undefined;
    const ended = await removeKeys(database.kysely, id, key.id);
    for (const value of ended) await provider.revocations.revoke({ kind: "sid", value });
  };
  const { access_token: token } = await client.clientCredentialsGrant(configuration);
  const remaining = await configureAt(issuer, id, client.ClientSecretBasic(other));
  expect(await client.tokenIntrospection(remaining, token)).toEqual({ active: false });
  const { access_token: good } = await client.clientCredentialsGrant(remaining);
  expect(await client.tokenIntrospection(remaining, good)).toMatchObject({ active: true });
});

test("a database that does not answer is not reported as a wrong secret [IAM-38]", async () => {
  const failing = {
    findForLogin: async () => {
      throw new DatabaseError("UNAVAILABLE", "the database does not answer");
    },
  };
  const replica = await startProvider({ serviceAccounts: failing });
  const { issuer } = replica;
  const configuration = await configureAt(issuer, randomUUID(), client.ClientSecretBasic("x"));
  const refused = client.clientCredentialsGrant(configuration);
  await expect(refused).rejects.toMatchObject({ cause: { status: 503 } });
});
