/** `explain` describes the actual behaviour of the edge. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runSvcAccess } from "../support/svc-access.ts";
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
  ["Beside", "  The edge gateway does not route to it: only internal callers reach it."],
  [
    "Dump",
    "  It is not published, but the edge gateway forwards GET /v1/items/x:dump with the route of a.v1.S/Shown: external callers reach it, too.",
  ],
  [
    "Sweep",
    "  It is not published, but the edge gateway forwards GET /v1/items/sweep with the route of a.v1.S/Shown; such a call is denied, as it has no internal token.",
  ],
])("explain describes how the edge handles %s", (name, line) => {
  const { stdout, stderr, status } = runSvcAccess(["explain", ".", name], {
    cwd: workspace.folder,
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  expect(stdout.split("\n")).toContain(line);
});

test("explain reports a declared prefix that forwards to an unpublished RPC, as lint does", () => {
  using repository = new Workspace({
    "a/v1/a.proto": `syntax = "proto3"; package a.v1;
import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";
message Request { string id = 1; }
service S {
${rpc("Hidden", "/v1/hidden/{id}", "exposure: AUTHENTICATED")}
}`,
    "prefix.yaml": `
identity:
  issuer: https://id.example.com
  authorization_endpoint: https://id.example.com/authorize
  token_endpoint: https://id.example.com/token
  jwks_uri: https://id.example.com/jwks
edge:
  gateway: {name: edge, namespace: edge, class: envoy-gateway}
  listeners: [{name: https, port: 443, certificate: {name: tls}}]
services:
  a:
    packages: [a.v1]
    ports: {http: 18001}
    backend: {service: {name: a, namespace: a}}
frontends:
  web: {host: a.example.com, namespace: a, services: [a], login: bearer, audiences: [cli]}
paths:
  - {service: a, path: /v1, match: prefix, exposure: AUTHENTICATED}
`,
  });
  const { stdout, stderr, status } = runSvcAccess(
    ["explain", "--config", "proto/prefix.yaml", ".", "Hidden"],
    { cwd: repository.folder },
  );
  expect(status).toBe(1);
  expect(stdout + stderr).toContain("(ACCESS_PATH_UNPUBLISHED)");
  expect(stdout).not.toContain("only internal callers reach it");
});

describe("with a frontend for Connect", () => {
  const config = (frontend: string, service = "") => `
identity:
  issuer: https://id.example.com
  authorization_endpoint: https://id.example.com/authorize
  token_endpoint: https://id.example.com/token
  jwks_uri: https://id.example.com/jwks
edge:
  gateway: {name: edge, namespace: edge, class: envoy-gateway}
  listeners: [{name: https, port: 443, certificate: {name: tls}}]
services:
  a:
    packages: [a.v1]
    ports: {http: 18001, grpc: 19001}
    backend: {service: {name: a, namespace: a}}
    ${service}
frontends:
  programs:
    host: api.example.com
    namespace: a
    services: [a]
    login: bearer
    audiences: [cli]
    ${frontend}
`;
  let repository: Workspace;
  beforeAll(() => {
    repository = new Workspace({
      "a/v1/a.proto": `syntax = "proto3"; package a.v1;
import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";
message Request { string id = 1; }
service S {
${rpc("Write", "/v1/write", "exposure: AUTHENTICATED gateway: {publish: true}")}
${rpc("Read", "/v1/read", "exposure: AUTHENTICATED gateway: {publish: true}").replace("{\n", "{\n  option idempotency_level = NO_SIDE_EFFECTS;\n")}
${rpc("Hidden", "/v1/hidden", "exposure: AUTHENTICATED")}
}`,
      "connect.yaml": config("connect: true"),
      "plain.yaml": config(""),
      "grpc.yaml": config("connect: true", "published_as: grpc"),
    });
  });
  afterAll(() => repository[Symbol.dispose]());

  const edgeLine = (name: string, file: string) => {
    const { stdout, stderr, status } = runSvcAccess(
      ["explain", "--config", `proto/${file}`, ".", name],
      { cwd: repository.folder },
    );
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    return stdout.split("\n").find((line) => line.includes("Connect"));
  };

  test.each([
    ["Hidden", "connect.yaml"],
    ["Write", "plain.yaml"],
    ["Write", "grpc.yaml"],
  ])("explain has no such line for %s with %s", (name, file) => {
    expect(edgeLine(name, file)).toBeUndefined();
  });

  test.each([
    ["Write", "POST"],
    ["Read", "POST or GET"],
  ])("explain lists how its clients call %s", (name, methods) => {
    expect(edgeLine(name, "connect.yaml")).toBe(
      `  Clients of Connect and gRPC-Web call ${methods} /a.v1.S/${name} on api.example.com.`,
    );
  });
});
