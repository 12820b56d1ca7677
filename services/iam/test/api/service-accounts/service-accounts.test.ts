/** Service accounts that are created, read, changed and deleted, in a whole svc-iam. */
import { randomUUID } from "node:crypto";
import type { AuditEvent } from "svc-access/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serviceAccountRemoval } from "../../../src/api/service-accounts/service-account-removal.ts";
import { openIamRemovals } from "../../../src/ground/removals/removals.ts";
import { databaseOf } from "../../support/browser-login.ts";
import {
  AS_HUB,
  asUser,
  type IamService,
  LOGIN_CLIENT,
  startIam,
} from "../../support/iam-service.ts";
import { relate } from "../../support/passwords.ts";
import { ACCOUNTS, AccountCalls, must, OWN } from "./account-calls.ts";

const DECLARED = "00000000-5a53-4f6e-9d0e-6f1d5a3b8c11";
const NOBODY = "0b0c1f0e-5a53-4f6e-9d0e-6f1d5a3b8c11";
const declared = {
  id: DECLARED,
  name: "Declared",
  flows: ["service_account"],
  client_secret: "a secret of the declared account in tests",
  audience: [OWN],
};
const people = {
  id: randomUUID(),
  name: "Console",
  flows: ["code"],
  redirect_uris: ["https://console.example.com/callback"],
};

let iam: IamService;
const calls = new AccountCalls(() => iam);
beforeAll(async () => {
  iam = await startIam({
    oidc: { audience: [LOGIN_CLIENT, OWN] },
    iam: { clients: [declared, people] },
  });
});
afterAll(() => iam.stop());

const get = async (id: string) => must(await calls.call("GET", `/${id}`, undefined, "user_viewer"));

/** All that reads or changes service accounts. */
const READS = [
  ["a look at an account", "GET", ""],
  ["a list of its keys", "GET", "/keys"],
] as const;
const CHANGES = [
  ["a change of the name", "PATCH", "", { displayName: "New" }],
  ["a change of the audience", "PATCH", "", { audience: ["urn:acme:new"] }],
  ["disabling", "POST", ":disable", {}],
  ["enabling", "POST", ":enable", {}],
  ["a new secret", "POST", "/keys", {}],
  ["deletion of a key", "DELETE", "/keys/KEY", undefined],
  ["deletion", "DELETE", "", undefined],
] as const;

test.each(CHANGES)(
  "%s is refused to whoever may not manage users [IAM-35]",
  async (_, method, end, body) => {
    const { id, keyId } = await calls.makeWithSecret();
    const before = await get(id);
    const path = end.replace("KEY", keyId);
    const status = async (headers: Record<string, string>, of = id) =>
      (await iam.call(method, `${ACCOUNTS}/${of}${path}`, body, headers)).status;
    expect(await status({})).toBe(401);
    expect(await status(AS_HUB)).toBe(403);
    expect(await status(await calls.as(""))).toBe(403);
    expect(await status(await calls.as("user_viewer"))).toBe(403);
    expect(await status(await calls.as("user_manager"), NOBODY)).toBe(404);
    expect(await status(await calls.as("user_manager"), "%00")).toBe(400);
    expect(await status(await calls.as("user_manager"), DECLARED)).toBe(412);
    expect(await get(id)).toEqual(before);
    expect((await calls.call("GET", `/${id}/keys`)).body.keys).toHaveLength(1);
  },
);

test("a manager of another organization sees and changes none [IAM-35]", async () => {
  const { id, keyId } = await calls.makeWithSecret();
  const manager = randomUUID();
  const relationship = {
    resource: { type: "zone", id: "other" },
    relation: "owner",
    subject: { type: "user", id: manager },
  };
  const updates = [{ operation: "TOUCH", relationship } as const];
  await iam.options.engine?.writeRelationships({ updates });
  const paths = [...READS, ...CHANGES].map(([, method, end, body]) => [method, end, body] as const);
  for (const [method, end, body] of paths) {
    const path = `${ACCOUNTS}/${id}${end.replace("KEY", keyId)}`;
    const { status } = await iam.call(method, path, body, asUser(manager, "other"));
    expect([method, end, status]).toEqual([method, end, 403]);
  }
  for (const [method, body] of [["GET"], ["POST", { displayName: "Robot" }]] as const) {
    expect((await iam.call(method, ACCOUNTS, body, asUser(manager, "other"))).status).toBe(403);
  }
});

test.each(CHANGES.slice(1))(
  "%s of an account that may do more than the caller is refused [IAM-35]",
  async (_, method, end, body) => {
    const { id, keyId } = await calls.makeWithSecret();
    await calls.relateAccount(id, "owner");
    const path = `/${id}${end.replace("KEY", keyId)}`;
    for (const relation of ["user_manager", "admin"]) {
      const refused = await calls.call(method, path, body, relation);
      expect(refused).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
      expect(refused.body.message).toBe(
        "the account holds relations to a zone that the caller does not hold",
      );
    }
    expect((await calls.call(method, path, body, "owner")).status).toBe(200);
  },
);

test("a caller who is disabled, or is not a local user, changes nothing [IAM-35]", async () => {
  const id = await calls.make();
  const stranger = randomUUID();
  await relate(iam, "owner", stranger);
  for (const [, method, end, body] of CHANGES) {
    const path = `${ACCOUNTS}/${id}${end.replace("KEY", NOBODY)}`;
    expect((await iam.call(method, path, body, asUser(stranger))).status).toBe(403);
  }
  expect((await iam.call("POST", ACCOUNTS, { displayName: "R" }, asUser(stranger))).status).toBe(
    403,
  );
});

test("an account is created without keys, and shown to whoever may view users [IAM-31]", async () => {
  const created = must(await calls.call("POST", "", { displayName: "Reporter" }));
  expect(created).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    displayName: "Reporter",
    audience: [],
    disabled: false,
    declared: false,
    etag: expect.stringMatching(/^[0-9a-f-]{36}$/),
    createTime: expect.any(String),
    updateTime: expect.any(String),
  });
  expect(await get(created.id)).toEqual(created);
  expect((await calls.call("GET", `/${created.id}/keys`)).body.keys).toEqual([]);
});

test.each([
  ["no name", { displayName: "" }, "display_name"],
  ["a name with a line end", { displayName: "a\nb" }, "display_name"],
  ["an audience that is not a URI", { audience: ["notes"] }, "audience"],
  ["an audience with a fragment", { audience: ["urn:acme:notes#x"] }, "audience"],
  ["the audience of the provider", { audience: ["urn:svc-access:platform"] }, "audience"],
  ["an audience twice", { audience: ["urn:acme:a", "urn:acme:a"] }, "audience"],
  [
    "33 audiences",
    { audience: Array.from({ length: 33 }, (_, at) => `urn:acme:${at}`) },
    "audience",
  ],
])("an account with %s is refused [IAM-31]", async (_, fields, field) => {
  const id = await calls.make();
  const expected = { status: 400, body: { details: { fields: { [field]: expect.any(String) } } } };
  expect(await calls.call("POST", "", { displayName: "Robot", ...fields })).toMatchObject(expected);
  const updateMask = { displayName: "displayName", audience: "audience" }[
    Object.keys(fields)[0] ?? ""
  ];
  const query = `/${id}?updateMask=${updateMask}`;
  expect(await calls.call("PATCH", query, fields)).toMatchObject(expected);
});

test("a change needs the etag that was read, and changes the fields of its mask [IAM-31]", async () => {
  const id = await calls.make({ displayName: "Robot", audience: ["urn:acme:notes"] });
  const before = await get(id);
  const change = { displayName: "Reporter", etag: before.etag };
  const changed = must(await calls.call("PATCH", `/${id}`, change));
  expect(changed).toMatchObject({ displayName: "Reporter", audience: ["urn:acme:notes"] });
  expect(changed.etag).not.toBe(before.etag);
  expect((await calls.call("PATCH", `/${id}`, change)).status).toBe(412);
  const emptied = must(
    await calls.call("PATCH", `/${id}?updateMask=audience`, { displayName: "X" }),
  );
  expect(emptied).toMatchObject({ displayName: "Reporter", audience: [] });
  expect((await calls.call("PATCH", `/${id}?updateMask=disabled`, {})).status).toBe(400);
});

test("those of the configuration are listed beside the others, by pages [IAM-36]", async () => {
  const made = [await calls.make(), await calls.make(), await calls.make()];
  const viewer = await calls.as("user_viewer");
  const list = (query: string) => iam.call("GET", `${ACCOUNTS}${query}`, undefined, viewer);
  const seen: string[] = [];
  let token = "";
  do {
    const page = must(await list(`?pageSize=2&pageToken=${token}`));
    expect(page.serviceAccounts.length).toBeLessThanOrEqual(2);
    seen.push(...page.serviceAccounts.map(({ id }: { id: string }) => id));
    token = page.nextPageToken;
  } while (token !== "");
  expect(seen).toEqual([...new Set(seen)].toSorted());
  // Of a former version.
  const former = `service-accounts.1.${Buffer.from(made[0] ?? "").toString("base64url")}`;
  const refused = await list(`?pageToken=${former}`);
  expect([refused.status, refused.body.message]).toEqual([
    400,
    expect.stringContaining("list again from the first page"),
  ]);
  expect(seen).toEqual(expect.arrayContaining([DECLARED, ...made]));
  expect(seen).not.toContain(people.id);
  expect(await get(DECLARED)).toMatchObject({
    displayName: "Declared",
    declared: true,
    audience: [OWN],
  });
  for (const bad of ["pageToken=x", "pageSize=1001", "pageSize=-1", "pageToken=groups.1.eA"]) {
    expect((await calls.call("GET", `?${bad}`)).status).toBe(400);
  }
});

test("an account of the configuration gets tokens beside those that are made [IAM-36]", async () => {
  const made = await calls.makeWithSecret();
  expect(await calls.use(await calls.token(DECLARED, declared.client_secret))).toBe(200);
  expect(await calls.use(await calls.token(made.id, made.secret))).toBe(200);
  await expect(calls.token(DECLARED, made.secret)).rejects.toMatchObject({ status: 401 });
  await expect(calls.token(made.id, declared.client_secret)).rejects.toMatchObject({ status: 401 });
});

test("a gateway that still accepts the token of a disabled or deleted account is refused [IAM-34]", async () => {
  const [disabled, deleted, other] = [await calls.make(), await calls.make(), await calls.make()];
  must(await calls.call("POST", `/${disabled}:disable`, {}));
  must(await calls.call("DELETE", `/${deleted}`));
  const asAccount = (id: string) => ({ ...asUser(id), "x-svc-subject-type": "service_account" });
  const status = async (id: string) =>
    (await iam.call("GET", "/v1/iam/me", undefined, asAccount(id))).status;
  expect(await status(other)).toBe(200);
  expect([await status(disabled), await status(deleted)]).toEqual([401, 401]);
});

test("of a deleted account, the relationships and then the record go, and its id stays known [IAM-34]", async () => {
  const { id } = await calls.makeWithSecret();
  await calls.relateAccount(id, "user_viewer");
  must(await calls.call("DELETE", `/${id}`, undefined, "owner"));
  const { engine } = iam.options;
  if (engine === undefined) throw new Error("the service has no engine");
  const database = databaseOf(iam);
  // The clock of the job is ahead, so that it does not wait.
  let hours = 1;
  const removals = await openIamRemovals({
    database,
    engine,
    now: () => Date.now() + hours * 3_600_000,
  });
  removals.register(serviceAccountRemoval);
  for (; hours <= 3; hours++) await removals.run(new AbortController().signal);
  const left = await engine.readRelationships({ subject: { type: "service_account", id } });
  expect(left.items).toEqual([]);
  const { kysely } = database;
  const row = await kysely
    .selectFrom("iam_service_accounts")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  expect(row).toBeUndefined();
  const former = await kysely
    .selectFrom("iam_former_ids")
    .selectAll()
    .where("id", "=", id)
    .execute();
  expect(former).toMatchObject([{ type: "service_account", id }]);
});

test("the audit has who made and deleted which key, and what was changed [IAM-37]", async () => {
  const { id, keyId } = await calls.makeWithSecret();
  must(await calls.call("PATCH", `/${id}`, { displayName: "Reporter" }));
  must(await calls.call("DELETE", `/${id}/keys/${keyId}`));
  const found = await eventsOf(`service_account:${id}`);
  expect(found).toEqual(
    expect.arrayContaining([
      ["iam.service_account.create", "HIGH", undefined],
      ["iam.service_account_key.create", "CRITICAL", undefined],
      ["service_account.key_made", "CRITICAL", { key: keyId, kind: "secret" }],
      ["service_account.changed", "MEDIUM", { fields: "displayName" }],
      ["iam.service_account.update", "MEDIUM", undefined],
      ["service_account.key_deleted", "HIGH", { key: keyId }],
      ["iam.service_account_key.delete", "HIGH", undefined],
    ]),
  );
});

/** The name, risk and details of each event about a resource. */
async function eventsOf(resource: string) {
  const events: AuditEvent[] = [];
  for await (const event of iam.server.audit?.export({}) ?? []) events.push(event);
  return events
    .filter(({ data }) => data.resource === resource)
    .map(({ type, data }) => [type, data.risk_level, data.details]);
}

test("creations take Idempotency-Key, and the response with a secret is not stored [IAM-31]", async () => {
  const manager = { ...(await calls.as("user_manager")), "Idempotency-Key": randomUUID() };
  const create = () => iam.call("POST", ACCOUNTS, { displayName: "Robot" }, manager);
  const { id } = must(await create());
  expect(must(await create()).id).toBe(id);
  const makeKey = () => iam.call("POST", `${ACCOUNTS}/${id}/keys`, {}, manager);
  const { secret } = must(await makeKey());
  expect(await makeKey()).toMatchObject({ status: 412, body: { code: "FAILED_PRECONDITION" } });
  expect((await calls.call("GET", `/${id}/keys`)).body.keys).toHaveLength(1);
  const stored = await databaseOf(iam)
    .kysely.selectFrom("idempotency_keys" as never)
    .selectAll()
    .execute();
  expect(stored.length).toBeGreaterThan(0);
  expect(JSON.stringify(stored)).not.toContain(secret);
});

test("with another provider, service accounts are not implemented", async () => {
  const other = await startIam({
    authn: { provider: "oidc" },
    login: { client_secret: "a secret of the client" },
  });
  await relate(other, "owner", "root");
  const { status, body } = await other.call("GET", ACCOUNTS, undefined, asUser("root"));
  await other.stop();
  expect(status).toBe(501);
  expect(body.message).toContain("embedded identity provider");
});
