/** Changes of one record that come at once: those without an etag all succeed, and none undoes another. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asUser, type IamService, INTERNAL_TOKEN, startIam } from "../support/iam-service.ts";
import { GROUPS, groupCalls } from "./groups/group-service.ts";
import { ACCOUNTS, AccountCalls } from "./service-accounts/account-calls.ts";

const SYSTEM_TOKEN = "the-system-token-of-the-platform-in-tests";
const AS_SYSTEM = { "X-Svc-Internal-Token": SYSTEM_TOKEN };
const ORGANIZATIONS = "/v1/iam/system/organizations";
const AT_ONCE = 8;

let iam: IamService;
const groups = groupCalls(() => iam);
const accounts = new AccountCalls(() => iam);
beforeAll(async () => {
  const token = [{ service: "hub", token: INTERNAL_TOKEN }];
  iam = await startIam({
    authn: { internal_call: { enabled: true, token, system_token: SYSTEM_TOKEN } },
  });
});
afterAll(() => iam.stop());

/** A record that was made: its path, and who may change it. */
type Made = readonly [path: string, caller: Record<string, string>];

const made: Record<string, () => Promise<Made>> = {
  profile: async () => ["/v1/iam/me", await accounts.as("")],
  preferences: async () => ["/v1/iam/me/preferences", await accounts.as("")],
  user: async () => {
    const { "x-svc-user-id": id = "" } = await accounts.as("");
    return [`/v1/users/${id}`, await accounts.as("user_manager")];
  },
  "service account": async () => [
    `${ACCOUNTS}/${await accounts.make()}`,
    await accounts.as("user_manager"),
  ],
  group: async () => {
    await groups.relate("zone:acme#owner@user:root");
    return [`${GROUPS}/${await groups.make("root", "Made")}`, asUser("root")];
  },
  organization: async () => {
    const organizationId = `made-${randomUUID()}`;
    await iam.call("POST", ORGANIZATIONS, { organizationId, displayName: "Made" }, AS_SYSTEM);
    return [`${ORGANIZATIONS}/${organizationId}`, AS_SYSTEM];
  },
};

const PICTURE = "https://example.com/a.png";

test.each([
  ["profile", { name: "New" }, { avatarUrl: PICTURE }],
  ["preferences", { language: "de" }, { timeZone: "Europe/Berlin" }],
  ["user", { displayName: "New" }, { avatarUrl: PICTURE }],
  ["service account", { displayName: "New" }, { audience: ["urn:acme:new"] }],
  ["group", { displayName: "New" }, { displayName: "New" }],
  ["organization", { displayName: "New" }, { websiteUrl: "https://example.com" }],
])("changes of one %s without an etag all succeed, and none is lost", async (kind, one, other) => {
  const [path, caller] = (await made[kind]?.()) ?? expect.fail(kind);
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) =>
      iam.call("PATCH", path, index % 2 === 0 ? one : other, caller),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const { body } = await iam.call("GET", path, undefined, caller);
  expect(body).toMatchObject({ ...one, ...other });
});
