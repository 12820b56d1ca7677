import { afterAll, beforeAll, expect, test } from "vitest";
import {
  casdoorGroup,
  casdoorOrganization,
  casdoorUser,
} from "../../support/casdoor/casdoor-records.ts";
import { ALICE, IamWithCasdoor } from "../../support/casdoor/iam-with-casdoor.ts";
import { asUser } from "../../support/iam-service.ts";

const BOB = casdoorUser("bob");
const ROOT = asUser("root");

let it: IamWithCasdoor;
beforeAll(async () => {
  it = await IamWithCasdoor.start();
  it.casdoor.data.organizations = [casdoorOrganization("acme"), casdoorOrganization("evil")];
  it.casdoor.data.users = [BOB, ALICE, casdoorUser("mallory", { owner: "evil" })];
  it.casdoor.data.groups = [casdoorGroup("staff"), casdoorGroup("ops", { parentId: "staff" })];
  await own("acme", "evil");
});
afterAll(() => it.stop());

/** Makes root the owner of zones. */
async function own(...zones: readonly string[]): Promise<void> {
  await it.iam.options.engine?.writeRelationships({
    updates: zones.map((id) => ({
      operation: "TOUCH" as const,
      relationship: {
        resource: { type: "zone", id },
        relation: "owner",
        subject: { type: "user", id: "root" },
      },
    })),
  });
}

const get = (path: string, headers = ROOT) =>
  it.iam.call("GET", `/v1/iam/organizations/${path}`, undefined, headers);

test.each(["acme", "acme/users", `acme/users/${ALICE.id}`, "acme/groups"])(
  "who has no permission on the zone does not see %s",
  async (path) => {
    expect((await get(path, asUser("nobody"))).status).toBe(403);
    expect((await get(path, {})).status).toBe(401);
  },
);

test.each([
  ["evil", "an organization that Casdoor has, and this service has not"],
  ["evil/users", "its users"],
  ["evil/groups", "its groups"],
  ["acme/users/unknown", "an unknown user"],
])("%s is not found: %s", async (path) => {
  expect(await get(path)).toMatchObject({ status: 404, body: { code: "RESOURCE_NOT_FOUND" } });
});

test.each([
  ["a negative page size", "acme/users?page_size=-1"],
  ["a large page size", "acme/users?page_size=1001"],
  ["a page token of another list", "acme/users?page_token=casdoor.groups.YQ"],
  ["a long page token", `acme/groups?page_token=${"x".repeat(1025)}`],
  ["a long query", `acme/users?query=${"x".repeat(257)}`],
  ["a long group", `acme/users?group_id=${"x".repeat(257)}`],
])("%s is an invalid argument", async (_, path) => {
  expect(await get(path)).toMatchObject({ status: 400, body: { code: "INVALID_ARGUMENT" } });
});

test("a Casdoor that answers with errors is 503", async () => {
  it.casdoor.intercept = (_, response) => {
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ status: "error", msg: "the database is broken" }));
    return true;
  };
  const { status, body } = await get("acme/users");
  it.reset();
  expect({ status, code: body.code }).toEqual({ status: 503, code: "UNAVAILABLE" });
  expect(JSON.stringify(body)).not.toContain("database");
});

test("the organization, its users and its groups are shown", async () => {
  const { body: organization } = await get("acme");
  expect(organization).toMatchObject({
    id: "acme",
    websiteUrl: "https://acme.example.com",
    createTime: "2024-05-05T23:08:09Z",
  });
  const { body: alice } = await get(`acme/users/${ALICE.id}`);
  expect(alice).toMatchObject({ id: ALICE.id, username: "alice", groupIds: ["acme/staff"] });
  const { body: first } = await get("acme/users?page_size=1");
  expect(first.users).toMatchObject([{ username: "alice", organizationId: "acme" }]);
  const { body: second } = await get(`acme/users?page_size=1&page_token=${first.nextPageToken}`);
  expect(second).toMatchObject({ users: [{ id: BOB.id }], nextPageToken: "" });
  const { body: staff } = await get("acme/users?group_id=acme/staff&query=AL");
  expect(staff.users).toMatchObject([{ username: "alice" }]);
  const { body: groups } = await get("acme/groups?parent_id=acme/staff");
  expect(groups.groups).toMatchObject([{ id: "acme/ops", parentId: "acme/staff" }]);
});
