/** What `explain` says of the edge is what the edge does. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../support/programs.ts";
import { Workspace } from "../support/workspace.ts";

const rpc = (
  name: string,
  path: string,
  policy: string,
) => `rpc ${name}(Request) returns (Request) {
  option (google.api.http) = {get: "${path}"};
  option (svc.access.v1.policy) = {${policy}};
}`;

let workspace: Workspace;

beforeAll(() => {
  workspace = new Workspace({
    "a/v1/a.proto": `syntax = "proto3"; package a.v1;
import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";
message Request { string id = 1; }
service S {
${rpc("Shown", "/v1/items/{id}", "exposure: AUTHENTICATED gateway: {publish: true}")}
${rpc("Dump", "/v1/items/{id}:dump", "exposure: AUTHENTICATED")}
${rpc("Sweep", "/v1/items/sweep", "exposure: INTERNAL")}
${rpc("Beside", "/v1/others/{id}", "exposure: AUTHENTICATED")}
}`,
  });
});
afterAll(() => workspace[Symbol.dispose]());

test.each([
  ["Shown", "  The edge gateway routes to it."],
  ["Beside", "  The edge gateway does not route to it: only callers inside reach it."],
  [
    "Dump",
    "  It is not published, but the edge gateway forwards GET /v1/items/x:dump by the route of a.v1.S/Shown: callers outside reach it, too.",
  ],
  [
    "Sweep",
    "  It is not published, but the edge gateway forwards GET /v1/items/sweep by the route of a.v1.S/Shown; such a call is denied, as it has no internal token.",
  ],
])("explain says how the edge treats %s", (name, line) => {
  const { stdout, stderr, status } = runProgram("svc-access", ["explain", ".", name], {
    cwd: workspace.folder,
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  expect(stdout.split("\n")).toContain(line);
});
