/** The IAM API conforms to docs/requirements.md and to the rules. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../support/programs.ts";
import { runSvcAccess } from "../support/svc-access.ts";
import { ROOT } from "../support/workspace.ts";

/** The RPCs of the IAM API, by service. */
const SERVICES: Readonly<Record<string, readonly string[]>> = {
  IAMAuditService: ["ListAuditEvents", "ExportAuditEvents", "FollowAuditEvents"],
  IAMAuthService: [
    "BuildLoginURL",
    "ExchangeCode",
    "RefreshToken",
    "VerifyToken",
    "RevokeToken",
    "GetMe",
    "UpdateMe",
    "GetUserPreferences",
    "UpdateUserPreferences",
  ],
  IAMDirectoryService: ["GetUser", "ListUsers", "GetOrganization", "ListGroups"],
  IAMGroupService: [
    "CreateGroup",
    "GetGroup",
    "ListVisibleGroups",
    "UpdateGroup",
    "MoveGroup",
    "DeleteGroup",
    "AddMember",
    "RemoveMember",
    "ListMembers",
  ],
  IAMOrganizationService: [
    "CreateOrganization",
    "GetOrganization",
    "ListOrganizations",
    "UpdateOrganization",
    "DeleteOrganization",
  ],
  IAMServiceAccountService: [
    "CreateServiceAccount",
    "GetServiceAccount",
    "ListServiceAccounts",
    "UpdateServiceAccount",
    "DisableServiceAccount",
    "EnableServiceAccount",
    "DeleteServiceAccount",
    "CreateServiceAccountKey",
    "ListServiceAccountKeys",
    "DeleteServiceAccountKey",
  ],
  IAMPasswordService: ["ChangeMyPassword", "CreatePasswordResetLink"],
  IAMPermissionService: [
    "CheckPermission",
    "WriteRelationship",
    "DeleteRelationship",
    "LookupResources",
    "LookupSubjects",
    "WriteRelationships",
    "ReadRelationships",
    "CheckAnyPermission",
    "CheckBulkPermissions",
    "ExplainPermission",
    "WatchRelationships",
    "GetModel",
  ],
  IAMAuthorizationService: [
    "WriteRelationships",
    "CheckPermission",
    "ExplainPermission",
    "ListAccess",
    "ListRelationships",
  ],
  IAMLocalUserService: [
    "ListUsers",
    "CreateUser",
    "GetUser",
    "UpdateUser",
    "DisableUser",
    "EnableUser",
    "DeleteUser",
  ],
  IAMSecondFactorService: ["RemoveUserSecondFactors"],
  IAMProviderService: ["ListClients", "PlanClients", "ApplyClients", "RotateSigningKey"],
  IAMRevocationService: ["WatchRevocations"],
  IAMSessionService: [
    "ListMySessions",
    "EndMySession",
    "EndMyOtherSessions",
    "ListUserSessions",
    "EndUserSession",
    "EndUserSessions",
  ],
};

/** The HTTP endpoints of IAM that are RPCs. */
const ENDPOINTS: readonly (readonly [string, string, string])[] = [
  ["GET", "/v1/iam/login-url", "PUBLIC"],
  ["GET", "/v1/iam/me", "AUTHENTICATED"],
  ["GET", "/v1/users", "AUTHORIZED"],
  ["POST", "/v1/users", "AUTHORIZED"],
];

interface Route {
  readonly method: string;
  readonly path: string;
  readonly exposure: string;
  readonly published: boolean;
  readonly rpc: string;
}

const model = ["--model", join(ROOT, "model/iam.zed")];

function routes(): Route[] {
  const { status, stdout } = runSvcAccess(["routes", "--format", "json", ...model, "proto"], {
    cwd: ROOT,
  });
  expect(status).toBe(0);
  return (JSON.parse(stdout) as { routes: Route[] }).routes;
}

test("it has exactly the required RPCs [IAM-1]", () => {
  const expected = Object.entries(SERVICES).flatMap(([service, rpcs]) =>
    rpcs.map((rpc) => `svc.iam.v1.${service}/${rpc}`),
  );
  expect([...new Set(routes().map(({ rpc }) => rpc))].sort()).toEqual(expected.sort());
});

test("it has the required paths [IAM-2]", () => {
  const found = routes().map(({ method, path, exposure }) => `${method} ${path} ${exposure}`);
  for (const endpoint of ENDPOINTS) expect(found).toContain(endpoint.join(" "));
});

test("only services may call the permission service [IAM-3]", () => {
  const permission = routes().filter(({ rpc }) => rpc.includes("IAMPermissionService"));
  expect(permission.every(({ exposure, published }) => exposure === "INTERNAL" && !published)).toBe(
    true,
  );
});

test("it has no finding, warnings included", () => {
  const { status, stdout } = runSvcAccess(["lint", "--strict", ...model, "proto"], {
    cwd: ROOT,
  });
  const count = Object.values(SERVICES).flat().length;
  expect(stdout).toBe(`${count} RPCs: 0 errors, 0 warnings\n`);
  expect(status).toBe(0);
});

test("buf lint of the module has no findings, even with the recommended rules", () => {
  expect(runProgram("buf", ["lint"], { cwd: ROOT })).toMatchObject({ status: 0, stdout: "" });
});

test("its committed generated code is what buf generate makes", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-iam-"));
  const { status, stderr } = runProgram("buf", ["generate", "-o", folder], { cwd: ROOT });
  expect(status, stderr).toBe(0);
  const read = (root: string) =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(root.length), readFileSync(path, "utf8")]);
  expect(read(join(folder, "src/gen/proto"))).toEqual(read(join(ROOT, "src/gen/proto")));
  rmSync(folder, { recursive: true });
});
