/** The platform repository: the images of several services, and the edge that they share. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Outcome, runProgram } from "../support/programs.ts";
import { runSvcAccess } from "../support/svc-access.ts";
import { Workspace } from "../support/workspace.ts";

const proto = (name: string, path: string) => `syntax = "proto3";
package ${name}.v1;
import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";
message Request { string id = 1; }
message Response {}
service ${name.toUpperCase()}Service {
  rpc Get(Request) returns (Response) {
    option (google.api.http) = {get: "${path}"};
    option (svc.access.v1.policy) = {exposure: AUTHENTICATED gateway: {publish: true}};
  }
}
`;

const config = (hosts: Readonly<Record<string, readonly string[]>>) => `environment: test
identity:
  issuer: https://id.example.com
  authorization_endpoint: https://id.example.com/authorize
  token_endpoint: https://id.example.com/token
  jwks_uri: https://id.example.com/jwks
edge:
  gateway: {name: edge, namespace: edge, class: envoy}
  listeners: [{name: https, port: 443, certificate: {name: tls}}]
services:
  orders: {packages: [orders.v1], ports: {http: 18002}, backend: {service: {name: orders, namespace: orders}}}
  bills: {packages: [bills.v1], ports: {http: 18003}, backend: {service: {name: bills, namespace: bills}}}
frontends:
${Object.entries(hosts)
  .map(
    ([host, services]) => `  ${host.split(".")[0]}:
    host: ${host}
    namespace: web
    services: [${services.join(", ")}]
    client_id: ${host}
    client_secret: {name: oidc}
    redirect_url: https://${host}/oauth2/callback
    logout_path: /oauth2/logout
`,
  )
  .join("")}`;

let orders: Workspace;
let bills: Workspace;

beforeAll(() => {
  // Both repositories have a file of the same folder, and the same imports.
  orders = new Workspace({ "orders/v1/orders.proto": proto("orders", "/v1/things/{id}") });
  bills = new Workspace({ "bills/v1/bills.proto": proto("bills", "/v1/things/{id=*}") });
  for (const workspace of [orders, bills]) {
    writeFileSync(join(workspace.folder, "image.binpb"), workspace.build());
  }
});

afterAll(() => {
  orders[Symbol.dispose]();
  bills[Symbol.dispose]();
});

function generate(hosts: Readonly<Record<string, readonly string[]>>, out: string): Outcome {
  orders.write("platform.yaml", config(hosts));
  const images = [orders, bills].map(({ folder }) => join(folder, "image.binpb"));
  return runSvcAccess(["generate", ...images, "--config", "platform.yaml", "--out", out], {
    cwd: orders.folder,
  });
}

test("two services that claim the same request on a host are a finding, and nothing is written [COMP-4]", () => {
  const { status, stderr } = generate({ "app.example.com": ["orders", "bills"] }, "one-host");
  expect(status).toBe(1);
  expect(stderr).toContain("ACCESS_ROUTE_CONFLICT");
  expect(stderr).toContain("GET /v1/things/x on the host app.example.com");
  expect(existsSync(join(orders.folder, "one-host"))).toBe(false);
});

test("on two hosts they are not a finding, and each has its routes [EDGE-18]", () => {
  const hosts = { "orders.example.com": ["orders"], "bills.example.com": ["bills"] };
  const { status, stdout, stderr } = generate(hosts, "two-hosts");
  expect({ status, stderr: stderr.replace(/^svc-access: ACCESS_AUTHZ.*\n/m, "") }).toEqual({
    status: 0,
    stderr: "",
  });
  expect(stdout).toMatch(/^\d+ files in two-hosts\n$/);
  const made = readdirSync(join(orders.folder, "two-hosts"), { recursive: true, encoding: "utf8" });
  for (const name of [
    "gateway/edge.yaml",
    "gateway/hosts/orders.example.com/orders.yaml",
    "gateway/hosts/bills.example.com/bills.yaml",
    "routes/orders.json",
    "routes/bills.json",
    "policies.json",
    "bills/v1/bills_server.ts",
  ]) {
    expect(made).toContain(name);
  }
});

test("two inputs with different files of one name are rejected", () => {
  using other = new Workspace({ "orders/v1/orders.proto": proto("orders", "/v1/other") });
  writeFileSync(join(other.folder, "image.binpb"), other.build());
  const { status, stderr } = runSvcAccess([
    "generate",
    join(orders.folder, "image.binpb"),
    join(other.folder, "image.binpb"),
    "--out",
    join(orders.folder, "same-name"),
  ]);
  expect(status).toBe(2);
  // The order of the inputs does not change the message.
  expect(stderr).toMatch(
    /two inputs contain different files named orders\/v1\/orders\.proto: google\.api\.http of orders\.v1\.ORDERSService\/Get differs \(the inputs are \S+image\.binpb and \S+image\.binpb\); build all inputs from one version of it \(rebuild the older image\), or give/,
  );
});

test("an image on standard input is the image in a file", () => {
  const input = orders.build();
  const piped = runProgram("svc-access", ["lint", "-", "--format", "json"], { input });
  const named = runSvcAccess(["lint", join(orders.folder, "image.binpb"), "--format", "json"]);
  expect(piped).toEqual(named);
  expect(JSON.parse(piped.stdout)).toMatchObject({ rpcs: 1 });
});

describe("in the platform repository, beside the repository of a service", () => {
  const SERVICE = "services: {bills: {packages: [bills.v1]}}\n";
  const run = (cwd: string, ...args: string[]) =>
    runSvcAccess(["generate", ...args, "--target", "gateway", "--out", "deploy"], {
      cwd,
    });

  test("the configuration of a single folder is used; of several folders, that of the working directory, and a note names the other", () => {
    using platform = new Workspace({
      "../svc-access.yaml": config({ "bills.example.com": ["bills"] }),
    });
    using service = new Workspace({
      "../svc-access.yaml": SERVICE,
      "bills/v1/bills.proto": proto("bills", "/v1/things/{id}"),
    });
    using other = new Workspace({ "notes/v1/notes.proto": proto("notes", "/v1/notes/{id}") });
    const of = join(service.folder, "svc-access.yaml");
    const one = run(platform.folder, service.folder);
    expect(one.stderr).toContain(
      `the configuration is ${of}; svc-access.yaml is not read (name another with --config)`,
    );
    // It has no edge, but the command requests gateway files.
    expect(one.status).toBe(2);
    const several = run(platform.folder, service.folder, other.folder);
    expect(several.stderr).toContain(
      `the configuration is svc-access.yaml; ${of} is not read (name another with --config)`,
    );
  });

  test("requested gateway files are made, or an error names the configuration", () => {
    using service = new Workspace({
      "../svc-access.yaml": SERVICE,
      "bills/v1/bills.proto": proto("bills", "/v1/things/{id}"),
    });
    using empty = new Workspace({});
    const { status, stderr } = run(empty.folder, service.folder);
    expect(status).toBe(2);
    expect(stderr).toContain(
      `no gateway files: ${join(service.folder, "svc-access.yaml")} has no edge`,
    );
    expect(existsSync(join(empty.folder, "deploy"))).toBe(false);
    const own = run(service.folder, ".");
    expect(own.status).toBe(2);
    expect(own.stderr).toContain("no gateway files: svc-access.yaml has no edge");
  });
});
