/** Rules for the names of services and RPCs. */
import { describe, expect, test } from "vitest";
import { readShippedFiles } from "../../../scripts/generate/shipped-services.ts";
import { readApi } from "../../../src/compiler/read/read-api.ts";
import { checkApi } from "../../../src/rules/check-api.ts";
import { DEFINITION, encodeFile, HTTP_DEFINITION, methodOf } from "../../api/descriptors.ts";

const SHIPPED = await readShippedFiles();

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
    const services = SHIPPED.flatMap(({ services }) => services);
    expect(services.length).toBeGreaterThan(10);
    expect(api.clients.map(({ fullName }) => fullName).sort()).toEqual(
      services.map(({ typeName }) => typeName).sort(),
    );
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
