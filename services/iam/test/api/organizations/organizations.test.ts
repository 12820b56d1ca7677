/** Organizations are made, changed and deleted by callers with the system token. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { OrganizationCreations } from "../../../src/api/organizations/organization-creations.ts";
import {
  AS_HUB,
  asUser,
  type IamService,
  INTERNAL_TOKEN,
  startIam,
} from "../../support/iam-service.ts";
import { groupCalls } from "../groups/group-service.ts";

const SYSTEM_TOKEN = "the-system-token-of-the-platform-in-tests";
const AS_SYSTEM = { "X-Svc-Internal-Token": SYSTEM_TOKEN };
const PATH = "/v1/iam/system/organizations";

let iam: IamService;
const { relate, isStored } = groupCalls(() => iam);
beforeAll(async () => {
  iam = await startIam({
    authn: {
      internal_call: {
        enabled: true,
        token: [{ service: "hub", token: INTERNAL_TOKEN }],
        system_token: SYSTEM_TOKEN,
      },
    },
  });
  await relate("zone:acme#owner@user:root");
});
afterAll(() => iam.stop());

const call = (method: string, path: string, body?: object) =>
  iam.call(method, `${PATH}${path}`, body, AS_SYSTEM);
const create = (organizationId: string, more: object = {}) =>
  call("POST", "", { organizationId, displayName: organizationId, ...more });

test.each([
  ["nobody", {}],
  ["the owner of the zone", asUser("root")],
  ["another service", AS_HUB],
  ["somebody with a wrong token", { "X-Svc-Internal-Token": `${SYSTEM_TOKEN}x` }],
])("%s may not list, create or delete organizations [IAM-12]", async (_, headers) => {
  for (const [method, path, body] of [
    ["GET", "", undefined],
    ["GET", "/acme", undefined],
    ["POST", "", { organizationId: "refused", displayName: "Refused" }],
    ["PATCH", "/acme", { displayName: "Refused" }],
    ["DELETE", "/acme", undefined],
  ] as const) {
    const { status } = await iam.call(method, `${PATH}${path}`, body, headers);
    expect([401, 403], `${method} ${path}`).toContain(status);
  }
  expect((await call("GET", "/refused")).status).toBe(404);
});

describe("a creation that is repeated with its key [IAM-12]", () => {
  const keyed = (key: string, organizationId: string, more: object = {}) => {
    const body = { organizationId, displayName: organizationId, ...more };
    return iam.call("POST", PATH, body, { ...AS_SYSTEM, "Idempotency-Key": key });
  };
  const owned = { owner: { type: "user", id: "somebody" } };

  test.each([
    ["without an owner", "keyed-1", {}],
    ["with an owner", "keyed-2", owned],
  ])("%s makes one organization", async (_, id, more) => {
    const key = randomUUID();
    const [first, second] = [await keyed(key, id, more), await keyed(key, id, more)];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body).toEqual(first.body);
    expect((await keyed(randomUUID(), id, more)).status).toBe(409);
    expect((await create(id, more)).status).toBe(409);
  });

  test.each([
    ["without an owner", "lost-1", {}, OrganizationCreations.prototype, "create"],
    ["with an owner", "lost-2", owned, OrganizationCreations.prototype, "finish"],
  ] as const)(
    "%s finds what the first call has made, which did not learn of it",
    async (_, id, more, prototype, method) => {
      const original = Reflect.get(prototype, method);
      const failing = vi.spyOn(prototype as any, method).mockImplementationOnce(async function (
        this: unknown,
        ...given: unknown[]
      ) {
        await Reflect.apply(original, this, given);
        throw new Error("the connection to the database is lost");
      });
      const key = randomUUID();
      expect((await keyed(key, id, more)).status).toBe(500);
      failing.mockRestore();
      expect((await keyed(randomUUID(), id, more)).status).toBe(409);
      const again = await keyed(key, id, more);
      expect([again.status, again.body.id]).toEqual([200, id]);
      if (more === owned) expect(await isStored(`zone:${id}#owner@user:somebody`)).toBe(true);
    },
  );
});

test.each([
  ["without an id", { organizationId: "", displayName: "a" }],
  ["with an id with a slash", { organizationId: "a/b", displayName: "a" }],
  ["with an id that begins with a dot", { organizationId: ".a", displayName: "a" }],
  ["with a long id", { organizationId: "a".repeat(65), displayName: "a" }],
  ["without a name", { organizationId: "bad" }],
  [
    "with a script as its web site",
    { organizationId: "bad", displayName: "a", websiteUrl: "javascript:1" },
  ],
  [
    "with a user in its web site",
    { organizationId: "bad", displayName: "a", websiteUrl: "https://a@b.c" },
  ],
  [
    "with an owner without an id",
    { organizationId: "bad", displayName: "a", owner: { type: "user" } },
  ],
  [
    "with an owner that is a zone",
    { organizationId: "bad", displayName: "a", owner: { type: "zone", id: "x" } },
  ],
])("an organization %s is refused, and nothing is stored", async (_, body) => {
  expect((await call("POST", "", body)).status).toBe(400);
  expect((await call("GET", "/bad")).status).toBe(404);
});

test("the organization of the configuration exists, and cannot be deleted [IAM-12]", async () => {
  const { status, body } = await call("GET", "/acme");
  expect([status, body.id, body.displayName]).toEqual([200, "acme", "acme"]);
  const refused = await call("DELETE", "/acme");
  expect([refused.status, refused.body.code]).toEqual([412, "FAILED_PRECONDITION"]);
  expect(refused.body.message).toContain("iam.organization");
  expect((await call("GET", "/acme")).status).toBe(200);
});

test("an organization is created with the first owner of its zone, once", async () => {
  const owner = { type: "user", id: "olga" };
  const made = await create("umbrella", { websiteUrl: "https://umbrella.example.com/", owner });
  expect(made).toMatchObject({
    status: 200,
    body: { id: "umbrella", displayName: "umbrella", websiteUrl: "https://umbrella.example.com/" },
  });
  expect(await isStored("zone:umbrella#owner@user:olga")).toBe(true);
  const again = await create("umbrella", { owner: { type: "user", id: "eve" } });
  expect([again.status, again.body.code]).toEqual([409, "ALREADY_EXISTS"]);
  expect(await isStored("zone:umbrella#owner@user:eve")).toBe(false);
});

test("a zone that somebody owns keeps its owner; a call that was cut off can be repeated", async () => {
  await relate("zone:taken#owner@user:first");
  const other = await create("taken", { owner: { type: "user", id: "second" } });
  expect([other.status, other.body.code]).toEqual([412, "FAILED_PRECONDITION"]);
  expect((await call("GET", "/taken")).status).toBe(404);
  expect((await create("taken", { owner: { type: "user", id: "first" } })).status).toBe(200);
});

test("of several calls with one id at once, one creates the organization", async () => {
  const owners = ["a", "b", "c", "d"].map((id) => ({ type: "user", id }));
  const made = await Promise.all(owners.map((owner) => create("raced", { owner })));
  expect(made.filter(({ status }) => status === 200)).toHaveLength(1);
  const winner = made.findIndex(({ status }) => status === 200);
  const stored = await Promise.all(owners.map(({ id }) => isStored(`zone:raced#owner@user:${id}`)));
  expect(stored).toEqual(owners.map((_, index) => index === winner));
});

test("organizations are listed by id, in pages", async () => {
  for (const id of ["list-b", "list-a"]) await create(id);
  const ids: string[] = [];
  for (let token: string | undefined = ""; token !== undefined; ) {
    const { body } = await call("GET", `?page_size=2&page_token=${token}`);
    ids.push(...body.organizations.map(({ id }: { id: string }) => id));
    token = body.nextPageToken || undefined;
  }
  expect(ids).toEqual([...ids].sort());
  expect(ids).toEqual(expect.arrayContaining(["acme", "list-a", "list-b"]));
});

// The second one is of a former version.
test.each(["x", "organizations.1.YWNtZQ", "organizations.1.Li4", "o".repeat(3000)])(
  "the page token %j is refused",
  async (token) => {
    const { status, body } = await call("GET", `?page_token=${token}`);
    expect([status, body.message]).toEqual([400, expect.stringContaining("first page")]);
  },
);

test("an organization gets another name, unless it was changed meanwhile", async () => {
  const { body: first } = await create("renamed", { websiteUrl: "https://one.example.com/" });
  const update = (body: object, query = "") => call("PATCH", `/renamed${query}`, body);
  const { status, body } = await update({ displayName: "Second", etag: first.etag });
  expect([status, body.displayName, body.websiteUrl]).toEqual([
    200,
    "Second",
    "https://one.example.com/",
  ]);
  expect((await update({ displayName: "Third", etag: first.etag })).status).toBe(412);
  const cleared = await update({}, "?update_mask=websiteUrl");
  expect([cleared.status, cleared.body.websiteUrl ?? ""]).toEqual([200, ""]);
  expect((await update({}, "?update_mask=displayName")).status).toBe(400);
  expect((await update({ id: "x" }, "?update_mask=id")).status).toBe(400);
  expect((await call("PATCH", "/nothing", { displayName: "a" })).status).toBe(404);
});

test("a deleted organization is gone with what was granted on its zone, and its id is not used again [IAM-12]", async () => {
  await create("former", { owner: { type: "user", id: "olga" } });
  expect((await call("DELETE", "/former")).status).toBe(200);
  expect((await call("GET", "/former")).status).toBe(404);
  expect((await call("DELETE", "/former")).status).toBe(404);
  expect((await create("former")).status).toBe(409);
  const isGone = async () => !(await isStored("zone:former#owner@user:olga"));
  await expect
    .poll(isGone, { message: "the deleted organization is gone", interval: 20 })
    .toBe(true);
});

test("the service does not start for an organization that was deleted", async () => {
  const authn = {
    internal_call: { enabled: true, token: INTERNAL_TOKEN, system_token: SYSTEM_TOKEN },
  };
  const first = await startIam({ authn });
  const send = (method: string, path: string, body?: object) =>
    first.call(method, `${PATH}${path}`, body, AS_SYSTEM);
  await send("POST", "", { organizationId: "closed", displayName: "Closed" });
  expect((await send("DELETE", "/closed")).status).toBe(200);
  await first.stop();
  const again = startIam({ authn, folder: first.folder, organization: "closed" });
  await expect(again).rejects.toThrow("iam.organization names closed, which was deleted");
});

test("an organization with groups, or with objects of other services, is not deleted", async () => {
  await create("busy", { owner: { type: "user", id: "olga" } });
  const groups = "/v1/iam/organizations/busy/groups";
  const as = asUser("olga", "busy");
  expect((await iam.call("POST", groups, { displayName: "Group" }, as)).status).toBe(200);
  const refused = await call("DELETE", "/busy");
  expect([refused.status, refused.body.message]).toEqual([
    412,
    expect.stringContaining("belongs to the zone"),
  ]);
  await create("used");
  await relate("organization:projects#zone@zone:used");
  expect((await call("DELETE", "/used")).body.message).toContain("organization:projects belongs");
});

test("a group is not made in an organization that is deleted at the same time", async () => {
  for (let round = 0; round < 5; round++) {
    const id = `race-${round}`;
    await create(id, { owner: { type: "user", id: "olga" } });
    const path = `/v1/iam/organizations/${id}/groups`;
    const [made, deleted] = await Promise.all([
      iam.call("POST", path, { displayName: "Group" }, asUser("olga", id)),
      call("DELETE", `/${id}`),
    ]);
    const isMade = made.status === 200;
    expect([deleted.status, made.status]).toEqual(
      isMade ? [412, 200] : [200, made.status === 403 ? 403 : 404],
    );
  }
});
