import type { AuditEvent } from "svc-access/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { relationship, updatesOf } from "../../rights/rights-engine.ts";
import { asUser, type IamService, startIam } from "../../support/iam-service.ts";
import { STORED, text } from "./administration.ts";

let iam: IamService;
/** Local users, by name. */
const users: Record<string, string> = {};
beforeAll(async () => {
  iam = await startIam();
  await iam.options.engine?.writeRelationships({ updates: updatesOf(...STORED) });
  for (const username of ["alice", "bob"]) {
    const user = { username, displayName: username, email: `${username}@example.com` };
    const made = { ...user, password: "correct horse battery staple" };
    users[username] = (await iam.call("POST", "/v1/users", made, asUser("root"))).body.id;
  }
});
afterAll(() => iam.stop());

const WRITE = "/v1/iam/admin/relationships:write";
const write = (body: unknown, user: string) => iam.call("POST", WRITE, body, asUser(user));
const get = (path: string, query: Record<string, string>, user: string) =>
  iam.call("GET", `/v1/iam/admin/${path}?${new URLSearchParams(query)}`, undefined, asUser(user));
const SITE = { "resource.type": "project", "resource.id": "site", permission: "read" };

describe("over HTTP, the administration of relationships", () => {
  test("is for callers only", async () => {
    expect((await iam.call("POST", WRITE, {})).status).toBe(401);
    for (const path of ["relationships", "permissions:check", "permissions:explain", "access"]) {
      expect((await iam.call("GET", `/v1/iam/admin/${path}`)).status).toBe(401);
    }
  });

  test("answers in its forms [IAM-45]", async () => {
    const viewer = relationship("project:site#viewer@user:x");
    expect((await write({ relationships: [viewer] }, "ed")).status).toBe(403);
    expect((await write({ relationships: [viewer] }, "site-admin")).status).toBe(200);
    const again = { relationships: [viewer], mode: "WRITE_MODE_CREATE" };
    expect((await write(again, "site-admin")).status).toBe(409);
    const query = { resource_type: "project", resource_id: "site", relation: "viewer" };
    const listed = await get("relationships", query, "site-admin");
    expect(listed.body.relationships.map(text)).toContain("project:site#viewer@user:x");
    expect((await get("permissions:check", SITE, "x")).body.allowed).toBe(true);
    const others = { ...SITE, "subject.type": "user", "subject.id": "x" };
    expect((await get("permissions:check", others, "ed")).status).toBe(403);
    const explained = await get("permissions:explain", others, "site-admin");
    expect(explained.body.steps.length).toBeGreaterThan(1);
    const access = await get("access", SITE, "site-admin");
    expect(access.body.entries.at(-1).notShown).toBe("organization:one (relationships not shown)");
  });

  test("keeps the last enabled user who owns the zone, and records what was written [IAM-10]", async () => {
    const owner = (name: string) => relationship(`zone:acme#owner@user:${users[name]}`);
    const relationships = [owner("alice"), owner("bob")];
    expect((await write({ relationships }, "root")).status).toBe(200);
    expect((await write({ deletions: [owner("bob")] }, "root")).status).toBe(200);
    // The gateway names root, who is not a local user.
    const { status, body } = await write({ deletions: [owner("alice")] }, "root");
    expect([status, body.message]).toEqual([
      412,
      "this would remove the last enabled user who owns the zone acme",
    ]);
    const log = iam.server.audit;
    if (log === undefined) throw new Error("the server has no audit");
    const events: AuditEvent[] = [];
    for await (const event of log.export({})) events.push(event);
    const of = (type: string) => events.filter((event) => event.type === type);
    expect(of("relationships.written").at(-1)?.data).toMatchObject({
      resource: "zone:acme",
      details: { relationship_1: text(owner("alice")), relationship_2: text(owner("bob")) },
    });
    expect(of("relationships.deleted")).toHaveLength(1);
    expect(of("iam.relationships.write").at(-1)?.data).toMatchObject({ status: 412 });
  });
});
