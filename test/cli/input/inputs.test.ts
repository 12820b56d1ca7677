/** The inputs of commands, and the errors of unreadable ones. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { explainBuf } from "../../../src/cli/input/buf.ts";
import { runProgram } from "../../support/programs.ts";
import { BUF, Workspace } from "../../support/workspace.ts";

const INIT = "run npx svc-access init in the repository";
const IMAGES = "pass the folder of your own protos, or images";

describe("the errors of buf for an input", () => {
  test.each([
    { said: "a.proto:4:1:cannot find `svc.access.v1.policy` in this scope", hint: INIT },
    { said: "a.proto:4:1:cannot find `google.api.http` in this scope", hint: INIT },
    { said: 'a.proto:4:1:import "google/api/annotations.proto": file does not exist', hint: INIT },
    { said: "node_modules/x/a.proto:1:1:syntax error", hint: IMAGES },
    { said: "web/node_modules/x/a.proto:1:1:syntax error", hint: IMAGES },
  ])("$said: the fix is named once", ({ said, hint }) => {
    const lines = explainBuf([said, said].join("\n"), "proto").split("\n");
    expect(lines.filter((line) => line.includes(hint))).toHaveLength(1);
  });

  test.each([
    "a.proto:4:1:imported file does not exist",
    "a.proto:4:1:cannot find `google.apis.Thing` in this scope",
    "a.proto:4:1:syntax error: node_modules/ is not expected",
  ])("%s stays unchanged", (said) => expect(explainBuf(said, "proto")).toBe(said));

  test("problems below node_modules are counted, and only those of own protos are listed", () => {
    const packages = Array.from({ length: 300 }, (_, n) => `node_modules/a/${n}.proto:1:1:wrong`);
    const lines = explainBuf([...packages, "own.proto:1:1:wrong"].join("\n"), ".").split("\n");
    expect(lines).toEqual([
      "own.proto:1:1:wrong",
      expect.stringMatching(/^300 of these problems are in protos below node_modules/),
    ]);
  });
});

const proto = (name: string) => `syntax = "proto3";
package ${name}.v1;
import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";
message GetRequest {}
message GetResponse {}
service ${name}Service {
  rpc Get${name}(GetRequest) returns (GetResponse) {
    option (google.api.http) = {get: "/v1/${name}"};
    option (svc.access.v1.policy) = {exposure: AUTHENTICATED};
  }
}
`;

test("lint of a folder without the protos of the annotation names the fix", () => {
  using workspace = new Workspace({ "bills/v1/bills.proto": proto("bills") });
  for (const name of ["buf.yaml", "vendor"]) {
    rmSync(join(workspace.folder, name), { recursive: true });
  }
  const run = runProgram("svc-access", ["lint", "proto"], { cwd: workspace.folder });
  expect(run.status).toBe(2);
  expect(run.stderr.split(INIT)).toHaveLength(2);
});

test("lint, routes and explain take several inputs, as generate does", () => {
  using workspace = new Workspace({
    "bills/v1/bills.proto": proto("bills"),
    "orders/v1/orders.proto": proto("orders"),
  });
  const cwd = workspace.folder;
  for (const name of ["bills", "orders"]) {
    const args = ["build", "proto", "--path", `proto/${name}`, "-o", `${name}.binpb`];
    expect(runProgram(BUF, args, { cwd })).toMatchObject({ status: 0 });
  }
  const images = ["bills.binpb", "orders.binpb"];
  const run = (...args: string[]) => runProgram("svc-access", args, { cwd });
  expect(run("lint", ...images).stdout).toContain("2 RPCs: 0 errors");
  const { routes } = JSON.parse(run("routes", "--format", "json", ...images).stdout);
  expect(routes.map(({ path }: { path: string }) => path)).toEqual(["/v1/bills", "/v1/orders"]);
  for (const name of ["bills", "orders"]) {
    const { status, stdout } = run("explain", ...images, `Get${name}`);
    expect(status).toBe(0);
    expect(stdout).toContain(`${name}.v1.${name}Service/Get${name}`);
  }
  const alone = run("explain", "GetBill");
  expect(alone).toMatchObject({ status: 2, stderr: expect.stringContaining("needs an input") });
});
