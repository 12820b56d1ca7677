/** The ids that a request must have: without one it is refused, and the message names the field. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { IAMDirectoryService } from "../../gen/svc/iam/v1/directory_pb.ts";
import { IAMGroupService } from "../../gen/svc/iam/v1/groups_pb.ts";
import { IAMOrganizationService } from "../../gen/svc/iam/v1/organizations_pb.ts";
import { IAMSecondFactorService } from "../../gen/svc/iam/v1/second_factors_pb.ts";
import { IAMServiceAccountService } from "../../gen/svc/iam/v1/service_accounts_pb.ts";
import { IAMSessionService } from "../../gen/svc/iam/v1/sessions_pb.ts";
import { IAMLocalUserService, IAMPasswordService } from "../../gen/svc/iam/v1/users_pb.ts";
import { type IamService, INTERNAL_TOKEN, startIam } from "../support/iam-service.ts";
import { groupCalls } from "./groups/group-service.ts";
import { AccountCalls } from "./service-accounts/account-calls.ts";

const SYSTEM_TOKEN = "the-system-token-of-the-platform-in-tests";
const SERVICES = [
  IAMDirectoryService,
  IAMGroupService,
  IAMOrganizationService,
  IAMSecondFactorService,
  IAMServiceAccountService,
  IAMSessionService,
  IAMLocalUserService,
  IAMPasswordService,
];
/** Empty, they filter nothing, or stand for the top. */
const OPTIONAL = new Set(["parent_id", "ListUsersRequest.group_id"]);

const member = { type: "user", id: "alice" };
/** What else a request must have. */
const OTHER_FIELDS: Readonly<Record<string, object>> = {
  CreateGroup: { displayName: "Made" },
  CreateOrganization: { displayName: "Made" },
  AddMember: { member },
  RemoveMember: { member },
};

const CASES = SERVICES.flatMap((service) =>
  service.methods.flatMap((method) => {
    const ids = method.input.fields.filter(({ name }) => name.endsWith("_id"));
    return ids
      .filter(({ name }) => !OPTIONAL.has(name) && !OPTIONAL.has(`${method.input.name}.${name}`))
      .map((field) => ({
        rpc: `${service.typeName}/${method.name}`,
        field: field.name,
        others: ids.filter((other) => other !== field).map(({ jsonName }) => jsonName),
      }));
  }),
);

let iam: IamService;
const accounts = new AccountCalls(() => iam);
const groups = groupCalls(() => iam);
const ids: Record<string, string> = { organizationId: "acme" };
beforeAll(async () => {
  const token = [{ service: "hub", token: INTERNAL_TOKEN }];
  iam = await startIam({
    authn: { internal_call: { enabled: true, token, system_token: SYSTEM_TOKEN } },
  });
  await groups.relate("zone:acme#owner@user:root");
  ids["groupId"] = await groups.make("root", "Made");
  ids["serviceAccountId"] = await accounts.make();
  ids["userId"] = (await accounts.as(""))["x-svc-user-id"] ?? "";
});
afterAll(() => iam.stop());

test("there are RPCs with ids", () => expect(CASES.length).toBeGreaterThan(30));

test.each(CASES)("$rpc without $field is refused", async ({ rpc, field, others }) => {
  const isSystem = rpc.includes("IAMOrganizationService");
  const caller = isSystem ? { "X-Svc-Internal-Token": SYSTEM_TOKEN } : await accounts.as("owner");
  const body = {
    ...Object.fromEntries(others.map((name) => [name, ids[name] ?? "another"])),
    ...(OTHER_FIELDS[rpc.replace(/^.*\//, "")] ?? {}),
  };
  // In the form of Connect an id may be missing, which a path of HTTP always has.
  const headers = { ...caller, "connect-protocol-version": "1" };
  const answer = await iam.call("POST", `/${rpc}`, body, headers);
  expect(answer.body).toMatchObject({ code: "invalid_argument" });
  // The second is of the authorization of the runtime, which comes before the handler.
  expect([`${field} is required`, `the field ${field} is missing`]).toContain(answer.body.message);
});
