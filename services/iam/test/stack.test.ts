/** What services of these tests run on: SVC_IAM_STACK=production is not ignored. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { databaseOf } from "./support/browser-login.ts";
import { everythingStored } from "./support/everything-stored.ts";
import { asUser, type IamService, startIam } from "./support/iam-service.ts";
import { IS_PRODUCTION_STACK } from "./support/stack.ts";

let iam: IamService;
let other: IamService;
beforeAll(async () => {
  [iam, other] = [await startIam(), await startIam()];
  const resource = { type: "zone", id: "acme" };
  const owner = { resource, relation: "owner", subject: { type: "user", id: "root" } };
  const updates = [{ operation: "TOUCH", relationship: owner }] as const;
  await iam.options.engine?.writeRelationships({ updates });
});
afterAll(async () => {
  await iam.stop();
  await other.stop();
});

test("a service has a database and relationships of its own, on the stack of the run [PLAT-9]", async () => {
  const name = "somebody-of-one-service";
  const user = { username: name, displayName: name, email: "s@example.com" };
  const body = { ...user, password: "correct horse battery staple" };
  const create = async (at: IamService) =>
    (await at.call("POST", "/v1/users", body, asUser("root"))).status;
  expect([await create(iam), await create(other)]).toEqual([200, 403]);
  expect(await everythingStored(iam)).toContain(name);
  expect(await everythingStored(other)).not.toContain(name);

  const { security, registry } = iam.options.configuration.config;
  const files = ["iam.db", "iam.relationships.db"].map((file) =>
    existsSync(join(iam.folder, file)),
  );
  expect({
    database: databaseOf(iam).kind,
    engine: security.authz.provider,
    hasRegistry: registry?.etcd !== undefined,
    files,
  }).toEqual(
    IS_PRODUCTION_STACK
      ? { database: "postgres", engine: "spicedb", hasRegistry: true, files: [false, false] }
      : { database: "sqlite", engine: "embedded", hasRegistry: false, files: [true, true] },
  );
});

test.runIf(IS_PRODUCTION_STACK)("it publishes its routes in etcd [REG-1]", async () => {
  const [endpoint = ""] = iam.options.configuration.config.registry?.etcd?.endpoints ?? [];
  const range = {
    key: btoa("/svc/kernel/routes/test/"),
    range_end: btoa("/svc/kernel/routes/test0"),
  };
  const body = JSON.stringify({ ...range, keys_only: true });
  const published = async () => {
    const response = await fetch(`${endpoint}/v3/kv/range`, { method: "POST", body });
    const { kvs = [] } = (await response.json()) as { kvs?: { key: string }[] };
    return kvs.map(({ key }) => atob(key)).join("\n");
  };
  await expect
    .poll(published, { message: "the routes are in etcd" })
    .toContain("IAMAuthService/GetMe");
});
