/** Changes of what has a display name of before the rule on new ones. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databaseOf } from "../support/browser-login.ts";
import { asUser, type IamService, INTERNAL_TOKEN, startIam } from "../support/iam-service.ts";
import { ROOT, startUsers } from "../support/passwords.ts";

const SYSTEM_TOKEN = "the-system-token-of-the-platform-in-tests";
/** The Hangul filler, which nobody sees. */
const OLDER = "\u3164";
const PROBLEM = "must contain at least one visible character";
const SPACED = ["Ops  ", "must not begin or end with white space"] as const;

let iam: IamService;
let users: Record<string, string>;
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
  users = await startUsers(iam, ["bob", "carol"]);
});
afterAll(() => iam.stop());

const asRoot = () => asUser(ROOT.subjectId);
const made = async (path: string, body: object, headers: Record<string, string>) => {
  const answer = await iam.call("POST", path, body, headers);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};

describe.each<
  [string, "iam_organizations" | "iam_users" | "iam_groups" | "iam_service_accounts", object, Make]
>([
  [
    "an organization",
    "iam_organizations",
    { websiteUrl: "https://umbrella.example" },
    async () => {
      const path = "/v1/iam/system/organizations";
      const headers = { "X-Svc-Internal-Token": SYSTEM_TOKEN };
      await made(path, { organizationId: "umbrella", displayName: "Umbrella" }, headers);
      return { path: `${path}/umbrella`, id: "umbrella", headers };
    },
  ],
  [
    "a user",
    "iam_users",
    { email: "new@example.com" },
    async () => {
      const id = users["bob"] ?? "";
      return { path: `/v1/users/${id}`, id, headers: asRoot() };
    },
  ],
  [
    "a group",
    "iam_groups",
    {},
    async () => {
      const path = "/v1/iam/organizations/acme/groups";
      const { id } = await made(path, { displayName: "Group" }, asRoot());
      return { path: `${path}/${id}`, id, headers: asRoot() };
    },
  ],
  [
    "a service account",
    "iam_service_accounts",
    { audience: ["urn:acme:iam"] },
    async () => {
      const path = "/v1/iam/service-accounts";
      const { id } = await made(path, { displayName: "Robot" }, asRoot());
      return { path: `${path}/${id}`, id, headers: asRoot() };
    },
  ],
])("%s with an older display name", (_, table, other, make) => {
  test("keeps it while other fields are changed or all are sent, and gets no other such name", async () => {
    const { path, id, headers } = await make();
    await databaseOf(iam)
      .kysely.updateTable(table)
      .set({ display_name: OLDER })
      .where("id", "=", id)
      .execute();
    const patch = (body: object) => iam.call("PATCH", path, body, headers);
    for (const body of [other, { ...other, displayName: OLDER }]) {
      const answer = await patch(body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    }
    for (const [name, problem] of [[`${OLDER}${OLDER}`, PROBLEM], SPACED]) {
      const { status, body } = await patch({ displayName: name });
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(problem)]);
    }
  });
});

test("so does a person who changes the own profile", async () => {
  const { kysely } = databaseOf(iam);
  const id = users["carol"] ?? "";
  const older = { display_name: OLDER, avatar_url: "ftp://example.com/picture" };
  await kysely.updateTable("iam_users").set(older).where("id", "=", id).execute();
  const patch = (body: object) => iam.call("PATCH", "/v1/iam/me", body, asUser(id));
  const kept = await patch({ name: OLDER, avatarUrl: older.avatar_url });
  expect(kept.status, JSON.stringify(kept.body)).toBe(200);
  for (const other of [{ name: `${OLDER}${OLDER}` }, { avatarUrl: "ftp://example.com/other" }]) {
    expect((await patch(other)).status).toBe(400);
  }
});

/** Makes what is changed. */
type Make = () => Promise<{
  readonly path: string;
  readonly id: string;
  readonly headers: Record<string, string>;
}>;
