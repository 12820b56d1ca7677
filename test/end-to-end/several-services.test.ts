/** Services with their own models, clients of others, and a platform with images of their whole workspaces. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Outcome, runProgram } from "../support/programs.ts";
import { runSvcAccess } from "../support/svc-access.ts";
import { ROOT, Workspace } from "../support/workspace.ts";

const ORDERS = `syntax = "proto3";
package orders.v1;
import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";
message GetOrderRequest { string order_id = 1; }
message GetOrderResponse { string state = 1; }
service OrderService {
  rpc GetOrder(GetOrderRequest) returns (GetOrderResponse) {
    option (google.api.http) = {get: "/v1/orders/{order_id}"};
    option (svc.access.v1.policy) = {
      exposure: AUTHORIZED
      authz: {action: "inspect" resource: "order:{order_id}"}
      gateway: {publish: true}
    };
  }
}
`;

const BILLS = `syntax = "proto3";
package bills.v1;
import "google/api/annotations.proto";
import "orders/v1/orders.proto";
import "svc/access/v1/policy.proto";
message PayRequest { string bill_id = 1; orders.v1.GetOrderResponse order = 2; }
message PayResponse {}
service BillService {
  rpc Pay(PayRequest) returns (PayResponse) {
    option (google.api.http) = {post: "/v1/bills/{bill_id}:pay" body: "*"};
    option (svc.access.v1.policy) = {
      exposure: AUTHORIZED
      authz: {action: "settle" resource: "bill:{bill_id}"}
      audit: {event: "bill.pay"}
      rate_limit: {qps: 5}
      gateway: {publish: true}
    };
  }
}
`;

/** A service of another repository, without annotations or with some that this version does not know. */
const WEATHER = `syntax = "proto3";
package weather.v1;
import "google/api/annotations.proto";
message Request { string city = 1; }
message Response { int32 degrees = 1; }
service WeatherService {
  rpc Get(Request) returns (Response) { option (google.api.http) = {get: "/weather/{city}"}; }
  rpc Set(Request) returns (Response);
}
`;

const model = (type: string, permission: string) => `definition user {}
definition ${type} {
  relation owner: user
  permission ${permission} = owner
}
`;

const repository = (service: string, others: readonly string[]) => `services:
  ${service}:
    packages: [${service}.v1]
    model: ${service}.zed
clients: [${others.join(", ")}]
`;

const BUF_GEN = `version: v2
inputs: [{directory: proto}]
plugins:
  - local: protoc-gen-svc-access
    out: gen
    strategy: all
    opt: [config=svc-access.yaml, import_extension=ts]
`;

const BUF = `version: v2
modules: [{path: proto}, {path: vendor}]
plugins:
  - plugin: buf-plugin-svc-access
    options: {config: svc-access.yaml}
lint: {use: [ACCESS]}
`;

let orders: Workspace;
let bills: Workspace;

beforeAll(() => {
  orders = new Workspace({ "orders/v1/orders.proto": ORDERS });
  // The protos of services that it calls are next to its own.
  bills = new Workspace({
    "bills/v1/bills.proto": BILLS,
    "orders/v1/orders.proto": ORDERS,
    "weather/v1/weather.proto": WEATHER,
  });
  orders.write("svc-access.yaml", repository("orders", ["weather.v1"]));
  bills.write("svc-access.yaml", repository("bills", ["orders.v1", "weather.v1"]));
  for (const workspace of [orders, bills]) {
    workspace.write("orders.zed", model("order", "inspect"));
    workspace.write("bills.zed", model("bill", "settle"));
    workspace.write("buf.yaml", BUF);
    workspace.write("buf.gen.yaml", BUF_GEN);
    cpSync(join(ROOT, "proto/svc/iam"), join(workspace.folder, "vendor/svc/iam"), {
      recursive: true,
    });
    // Of the whole workspace: its own protos, those that it calls, the annotation, the IAM API.
    const built = runProgram("buf", ["build", ".", "-o", "image.binpb"], { cwd: workspace.folder });
    expect(built).toMatchObject({ status: 0 });
  }
});

afterAll(() => {
  orders[Symbol.dispose]();
  bills[Symbol.dispose]();
});

const platform = (options: { bills?: string; edge?: boolean; clients?: string } = {}) => `
identity:
  issuer: https://id.example.com
  authorization_endpoint: https://id.example.com/authorize
  token_endpoint: https://id.example.com/token
  jwks_uri: https://id.example.com/jwks
${
  options.edge === false
    ? ""
    : `edge:
  gateway: {name: edge, namespace: edge, class: envoy}
  listeners: [{name: https, port: 443, certificate: {name: tls}}]`
}
services:
  orders: {packages: [orders.v1], model: orders.zed, ports: {http: 1}, backend: {service: {name: orders, namespace: a}}}
  bills: {packages: [${options.bills ?? "bills.v1"}], model: bills.zed, ports: {http: 2}, backend: {service: {name: bills, namespace: b}}}
clients: [${options.clients ?? "weather.v1"}]
frontends:
  web:
    host: app.example.com
    namespace: web
    services: [orders, bills]
    client_id: web
    client_secret: {name: oidc}
    redirect_url: https://app.example.com/oauth2/callback
    logout_path: /oauth2/logout
`;

/** Runs a command in the repository of the platform: that of orders, which has both models. */
function onPlatform(config: string, command: string, ...args: readonly string[]): Outcome {
  orders.write("platform.yaml", config);
  return runSvcAccess([command, "--config", "platform.yaml", ...args], {
    cwd: orders.folder,
  });
}

const images = () => ["image.binpb", join(bills.folder, "image.binpb")];

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** The output of the `server` and `policies` targets for `bills`. */
const OF_BILLS = [
  "bills/v1/bills_access.ts",
  "bills/v1/bills_server.ts",
  "orders/v1/orders_client.ts",
  "policies.json",
  "routes/bills.json",
  "weather/v1/weather_client.ts",
];

describe("a service that calls others", () => {
  test("is linted with its own model, without the services that it calls, by svc-access and by buf", () => {
    const lint = runSvcAccess(["lint", "."], { cwd: bills.folder });
    expect(lint).toEqual({ status: 0, stdout: "1 RPC: 0 errors, 0 warnings\n", stderr: "" });
    const buf = runProgram("buf", ["lint"], { cwd: bills.folder });
    expect(buf).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  test("generates its server, and only messages and clients of the others, with buf and without [COMP-6]", () => {
    const buf = runProgram("buf", ["generate"], { cwd: bills.folder });
    expect(buf).toMatchObject({ status: 0 });
    expect(filesBelow(join(bills.folder, "gen"))).toEqual(OF_BILLS);
    const own = runSvcAccess(
      [
        "generate",
        "proto",
        "--out",
        "own",
        "--import-extension",
        "ts",
        "--config",
        "svc-access.yaml",
      ],
      { cwd: bills.folder },
    );
    expect(own).toMatchObject({ status: 0 });
    for (const name of OF_BILLS) {
      const [left, right] = ["gen", "own"].map((folder) =>
        readFileSync(join(bills.folder, folder, name), "utf8"),
      );
      expect(left).toBe(right);
    }
    const policies = readFileSync(join(bills.folder, "gen/policies.json"), "utf8");
    expect(Object.keys(JSON.parse(policies).policies)).toEqual(["bills.v1.BillService/Pay"]);
    const client = readFileSync(join(bills.folder, "gen/weather/v1/weather_client.ts"), "utf8");
    expect(client).toContain("export const WeatherServiceRoutes: readonly HttpRoute[]");
    expect(client).toContain('path: "/weather/{city}"');
    expect(client).not.toMatch(/bind|Handlers|Policies|exposure/);
  });

  test("calls the other on the routes that it serves", () => {
    const served = runSvcAccess(
      ["generate", "proto", "--out", "gen", "--config", "svc-access.yaml"],
      { cwd: orders.folder },
    );
    expect(served.status).toBe(0);
    const routesIn = (folder: string, file: string) =>
      /OrderServiceRoutes: readonly HttpRoute\[\] = (.*?\]\);)\n/s.exec(
        readFileSync(join(folder, file), "utf8"),
      )?.[1];
    const routes = routesIn(orders.folder, "gen/orders/v1/orders_server.ts");
    expect(routes).toContain("/v1/orders/{order_id}");
    expect(routesIn(bills.folder, "gen/orders/v1/orders_client.ts")).toBe(routes);
  });

  test("explains its own RPCs, and names the source of others", () => {
    const own = runSvcAccess(["explain", "proto", "Pay", "--config", "svc-access.yaml"], {
      cwd: bills.folder,
    });
    expect(own).toMatchObject({ status: 0, stderr: "" });
    expect(own.stdout).toContain("settle");
    const other = runSvcAccess(["explain", "proto", "GetOrder", "--config", "svc-access.yaml"], {
      cwd: bills.folder,
    });
    expect(other.status).toBe(2);
    expect(other.stderr).toContain(
      "orders.v1.OrderService/GetOrder is only called from here, so its access policy is not here: ask the repository that serves it",
    );
  });

  test("with one that is not listed gets both fixes at each RPC, in every program [COMP-6]", () => {
    using workspace = new Workspace({
      "bills/v1/bills.proto": BILLS,
      "orders/v1/orders.proto": ORDERS,
    });
    workspace.write("svc-access.yaml", repository("bills", []));
    workspace.write("bills.zed", model("bill", "settle"));
    workspace.write("buf.yaml", BUF);
    workspace.write("buf.gen.yaml", BUF_GEN);
    const message =
      "orders/v1/orders.proto:8:3:MESSAGE no service of svc-access.yaml has the package orders.v1; add it to services.<name>.packages, or to clients if it is only called";
    const options = { cwd: workspace.folder };
    for (const [status, { status: ended, stdout, stderr }] of [
      [1, runSvcAccess(["lint", "."], options)],
      [1, runSvcAccess(["generate", ".", "--out", "gen"], options)],
      [100, runProgram("buf", ["lint"], options)],
      [1, runProgram("buf", ["generate"], options)],
    ] as const) {
      expect(ended).toBe(status);
      const said = (stdout + stderr).replace(/:8:3: ?/, ":8:3:MESSAGE ");
      expect(said).toContain(message);
    }
    expect(existsSync(join(workspace.folder, "gen"))).toBe(false);
  });
});

describe("a platform over images of whole workspaces", () => {
  test("generates the routes of all, each checked with its own model", () => {
    const { status, stderr } = onPlatform(platform(), "generate", ...images(), "--out", "whole");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const made = filesBelow(join(orders.folder, "whole"));
    expect(made.filter((name) => name.startsWith("routes/"))).toEqual([
      "routes/bills.json",
      "routes/orders.json",
    ]);
    const edge = made.filter((name) => name.startsWith("gateway/hosts/"));
    expect(edge).toHaveLength(1);
    const published = readFileSync(join(orders.folder, "whole", edge[0] ?? ""), "utf8");
    expect(published).toContain("/v1/orders/");
    expect(published).toContain("/v1/bills/");
    // The IAM API is only called.
    const iam = made.filter((name) => name.startsWith("svc/iam/"));
    expect(iam.length).toBeGreaterThan(0);
    expect(iam.every((name) => name.endsWith("_client.ts"))).toBe(true);
    expect(published).not.toContain("iam");
  });

  test("is linted, listed and explained, with the images in any order", () => {
    const both = [...images()].reverse();
    const generated = onPlatform(platform(), "generate", ...both, "--out", "reverse");
    expect(generated.status).toBe(0);
    for (const name of filesBelow(join(orders.folder, "whole"))) {
      const [left, right] = ["whole", "reverse"].map((folder) =>
        readFileSync(join(orders.folder, folder, name), "utf8"),
      );
      expect(left).toBe(right);
    }
    const image = join(bills.folder, "image.binpb");
    expect(onPlatform(platform(), "lint", image).stdout).toBe("2 RPCs: 0 errors, 0 warnings\n");
    const routes = onPlatform(platform(), "routes", image);
    expect(routes.status).toBe(0);
    expect(routes.stdout.match(/Service\/\w+$/gm)).toEqual(["Service/Pay", "Service/GetOrder"]);
    expect(onPlatform(platform(), "explain", image, "GetOrder").stdout).toContain(
      "inspect on the order",
    );
    expect(onPlatform(platform(), "explain", image, "Pay").stdout).toContain("settle on the bill");
  });

  test("checks no service with the model of another [MODEL-3]", () => {
    const swapped = platform()
      .replace("model: orders.zed", "model: swap.zed")
      .replace("model: bills.zed", "model: orders.zed")
      .replace("model: swap.zed", "model: bills.zed");
    const { status, stderr } = onPlatform(swapped, "generate", ...images(), "--out", "swapped");
    expect(status).toBe(1);
    expect(stderr).toMatch(/the model defines no type "order" \([^ ()]*bills\.zed\)/);
    expect(stderr).toMatch(/the model defines no type "bill" \([^ ()]*orders\.zed\)/);
    expect(existsSync(join(orders.folder, "swapped"))).toBe(false);
  });

  test("names the service without a model", () => {
    const { status, stderr } = onPlatform(
      platform().replace("model: bills.zed, ", ""),
      "lint",
      join(bills.folder, "image.binpb"),
    );
    expect(status).toBe(0);
    expect(stderr).toContain(
      "did not run for bills: no model is configured; name one with model: or services.bills.model: in platform.yaml",
    );
  });
});

test("a misspelt package under clients is a warning with its place and the likely name", () => {
  const config = platform().replace("weather.v1", "wheather.v1");
  expect(config).not.toBe(platform());
  const { stderr } = onPlatform(config, "generate", ...images(), "--out", "misspelt");
  expect(stderr).toMatch(
    /platform\.yaml:\d+:\d+: warning: clients: no file of the package wheather\.v1 is in the input, .*; did you mean "weather\.v1"\? \(CONFIG_PACKAGE\)/,
  );
  const right = onPlatform(platform(), "generate", ...images(), "--out", "spelt");
  expect(right.stderr).not.toContain("clients:");
});

describe("a service of a frontend that no input has [EDGE-16]", () => {
  const OF_BILLS =
    /platform\.yaml:\d+:\d+: no RPC of bills\.v1 is in the input, so the edge would lack routes of the service bills, which the frontend web calls; add the folder or the image that has it, or correct the name \(CONFIG_PACKAGE\)/;

  test("is an error of the gateway target, and nothing is written", () => {
    for (const [index, targets] of [
      [],
      ["--target", "gateway"],
      ["--target", "routes", "gateway"],
    ].entries()) {
      const out = `forgotten-${index}`;
      const { status, stderr } = onPlatform(
        platform(),
        "generate",
        "image.binpb",
        "--out",
        out,
        ...targets,
      );
      expect(status).toBe(1);
      expect(stderr).toMatch(OF_BILLS);
      expect(existsSync(join(orders.folder, out))).toBe(false);
    }
  });

  test.each([
    ["the other targets", platform(), ["--target", "routes", "policies", "server"]],
    ["a repository without an edge", platform({ edge: false }), []],
  ])("is a warning of %s", (name, config, targets) => {
    const out = name.replaceAll(" ", "-");
    const { status, stderr } = onPlatform(
      config,
      "generate",
      "image.binpb",
      "--out",
      out,
      ...targets,
    );
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /platform\.yaml:\d+:\d+: warning: no RPC of bills\.v1 is in the input, so nothing is generated from it for the service bills/,
    );
    expect(existsSync(join(orders.folder, out, "routes/orders.json"))).toBe(true);
  });

  test("is an error even if only one of several packages is missing", () => {
    const config = platform({ bills: "bills.v1, refunds.v1" });
    const { status, stderr } = onPlatform(config, "generate", ...images(), "--out", "part");
    expect(status).toBe(1);
    expect(stderr).toContain("no RPC of refunds.v1 is in the input");
    expect(stderr).not.toContain("bills.v1 is in the input");
  });

  test("is not a finding for a package with only messages", () => {
    const config = platform({ bills: "bills.v1, svc.access.v1" });
    expect(onPlatform(config, "generate", ...images(), "--out", "messages").status).toBe(0);
  });

  test("that is misspelt gets a suggestion, at both positions", () => {
    const config = platform({ bills: "bils.v1" });
    const { status, stderr } = onPlatform(config, "generate", ...images(), "--out", "misspelt");
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /platform\.yaml:\d+:\d+: no RPC of bils\.v1 is in the input.*; did you mean "bills\.v1"\?/,
    );
    expect(stderr).toMatch(
      /bills\.proto:9:3: no service .* has the package bills\.v1; .*; did you mean "bils\.v1"\?/,
    );
    expect(existsSync(join(orders.folder, "misspelt"))).toBe(false);
  });

  test("stops buf generate as well", () => {
    const folder = join(orders.folder, "buf-platform");
    for (const [name, text] of Object.entries({
      "svc-access.yaml": platform(),
      "buf.gen.yaml": BUF_GEN.replace(
        "inputs: [{directory: proto}]",
        "inputs: [{binary_image: ../image.binpb}]",
      ),
      "orders.zed": model("order", "inspect"),
      "bills.zed": model("bill", "settle"),
    })) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const { status, stderr } = runProgram("buf", ["generate"], { cwd: folder });
    expect(status).not.toBe(0);
    expect(stderr).toContain("no RPC of bills.v1 is in the input, so the edge would lack routes");
    expect(existsSync(join(folder, "gen"))).toBe(false);
  });
});
