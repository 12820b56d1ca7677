/** Rules for the names of services and RPCs. */
import { describe, expect, test } from "vitest";
import { SHIPPED_SERVICES } from "../../../src/compiler/read/package-owners.ts";
import { readApi } from "../../../src/compiler/read/read-api.ts";
import { file_svc_iam_v1_administration } from "../../../src/gen/proto/svc/iam/v1/administration_pb.ts";
import { file_svc_iam_v1_audit } from "../../../src/gen/proto/svc/iam/v1/audit_pb.ts";
import { file_svc_iam_v1_auth } from "../../../src/gen/proto/svc/iam/v1/auth_pb.ts";
import { file_svc_iam_v1_directory } from "../../../src/gen/proto/svc/iam/v1/directory_pb.ts";
import { file_svc_iam_v1_groups } from "../../../src/gen/proto/svc/iam/v1/groups_pb.ts";
import { file_svc_iam_v1_organizations } from "../../../src/gen/proto/svc/iam/v1/organizations_pb.ts";
import { file_svc_iam_v1_permission } from "../../../src/gen/proto/svc/iam/v1/permission_pb.ts";
import { file_svc_iam_v1_revocation } from "../../../src/gen/proto/svc/iam/v1/revocation_pb.ts";
import { file_svc_iam_v1_service_accounts } from "../../../src/gen/proto/svc/iam/v1/service_accounts_pb.ts";
import { file_svc_iam_v1_sessions } from "../../../src/gen/proto/svc/iam/v1/sessions_pb.ts";
import { file_svc_iam_v1_users } from "../../../src/gen/proto/svc/iam/v1/users_pb.ts";
import { checkApi } from "../../../src/rules/check-api.ts";
import { DEFINITION, encodeFile, HTTP_DEFINITION, methodOf } from "../../api/descriptors.ts";

const SHIPPED = [
  file_svc_iam_v1_administration,
  file_svc_iam_v1_auth,
  file_svc_iam_v1_directory,
  file_svc_iam_v1_permission,
  file_svc_iam_v1_revocation,
  file_svc_iam_v1_sessions,
  file_svc_iam_v1_users,
  file_svc_iam_v1_audit,
  file_svc_iam_v1_groups,
  file_svc_iam_v1_organizations,
  file_svc_iam_v1_service_accounts,
];

function read(...files: readonly Uint8Array[]) {
  const targets = files.map((bytes) => ({ bytes, target: true }));
  const { api, locator } = readApi([[DEFINITION, ...HTTP_DEFINITION, ...targets]], undefined);
  return { api, errors: checkApi(api, locator, undefined).diagnostics.map(({ rule }) => rule) };
}

function fileOf(packageName: string, name: string, ...rpcs: readonly string[]): Uint8Array {
  const method = rpcs.map((rpc) => methodOf(rpc));
  return encodeFile({ name: "a.proto", package: packageName, service: [{ name, method }] });
}

describe("the shipped svc.iam.v1 is only called", () => {
  test("the shipped files are clients", () => {
    const { api, errors } = read(...SHIPPED.map(({ proto }) => encodeFile(proto)));
    expect(errors).toEqual([]);
    expect(api.clients.map(({ fullName }) => fullName).sort()).toEqual(
      [...SHIPPED_SERVICES.keys()].sort(),
    );
  });

  test("all their RPCs are known, and no other", () => {
    const declared = SHIPPED.flatMap(({ services }) => services);
    expect(
      new Map(declared.map((each) => [each.typeName, each.methods.map((m) => m.name)])),
    ).toEqual(new Map([...SHIPPED_SERVICES].map(([name, rpcs]) => [name, [...rpcs]])));
  });

  test("an older version, without an RPC, is a client", () => {
    expect(read(fileOf("svc.iam.v1", "IAMLocalUserService", "ListUsers")).errors).toEqual([]);
  });

  test.each([
    ["another service", "Backdoor", "Get"],
    ["another RPC of a shipped service", "IAMLocalUserService", "DropUsers"],
  ])("%s is an error at its RPC", (_, service, rpc) => {
    const { api, errors } = read(fileOf("svc.iam.v1", service, rpc));
    expect(errors).toEqual(["ACCESS_PACKAGE_ASSIGNED"]);
    expect(api.clients).toEqual([]);
  });
});

describe("two RPCs with the same handler name are an error", () => {
  test.each([
    ["toString", "ToString"],
    ["Get", "get"],
    ["Get", "Get"],
  ])("%s and %s", (one, other) => {
    expect(() => read(fileOf("a.v1", "S", one, "List", other))).toThrow(
      `the RPCs ${one} and ${other} of a.v1.S have the same handler name`,
    );
  });

  test("names that differ elsewhere are not an error", () => {
    expect(() => read(fileOf("a.v1", "S", "getIt", "Getit", "get_it", "_get"))).not.toThrow();
  });
});
