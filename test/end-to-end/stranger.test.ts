/**
 * The repository of a new user: the packed package, installed in an empty folder
 * outside this project, works as in the README. In CI, npm installs it.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IS_THOROUGH } from "../support/effort.ts";
import { BIN, runProgram } from "../support/programs.ts";
import { ROOT } from "../support/workspace.ts";

const PROTO = `syntax = "proto3";

package acme.orders.v1;

import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";

service OrderService {
  rpc GetOrder(GetOrderRequest) returns (GetOrderResponse) {
    option (google.api.http) = {get: "/v1/orders/{order_id}"};
    option (svc.access.v1.policy) = {
      exposure: AUTHORIZED
      authz: {action: "read", resource: "project:{order_id}"}
      gateway: {publish: true}
    };
  }
  rpc CreateOrder(CreateOrderRequest) returns (CreateOrderResponse) {
    option (google.api.http) = {post: "/v1/orders" body: "*"};
    option (svc.access.v1.policy) = {
      exposure: AUTHORIZED
      authz: {action: "write", resource: "project:{project_id}"}
      audit: {event: "order.create" risk_level: MEDIUM}
    };
  }
  rpc ListTerms(ListTermsRequest) returns (ListTermsResponse) {
    option (google.api.http) = {get: "/v1/orders:terms"};
    option (svc.access.v1.policy) = {
      exposure: PUBLIC
      rate_limit: {qps: 5, burst: 10}
    };
  }
  rpc WatchOrders(WatchOrdersRequest) returns (stream WatchOrdersResponse) {
    option (svc.access.v1.policy).exposure = AUTHENTICATED;
  }
  rpc Import(stream ImportRequest) returns (ImportResponse) {
    option (svc.access.v1.policy) = {exposure: INTERNAL, audit: {event: "order.import"}};
  }
}

message GetOrderRequest { string order_id = 1; }
message GetOrderResponse { string order_id = 1; }
message CreateOrderRequest { string project_id = 1; }
message CreateOrderResponse { string order_id = 1; }
message ListTermsRequest {}
message ListTermsResponse { repeated string terms = 1; }
message WatchOrdersRequest {}
message WatchOrdersResponse { string order_id = 1; }
message ImportRequest { string order_id = 1; }
message ImportResponse { int32 orders = 1; }
`;

/** The code that a service author writes for the generated code. */
const HANDLERS = `import { bindOrderService } from "./gen/acme/orders/v1/orders_server.ts";
import { accessPolicies, OrderService_GetOrder } from "./gen/acme/orders/v1/orders_access.ts";

export const binding = bindOrderService({
  async getOrder(request, context) {
    return { orderId: request.orderId + (context.principal?.subjectId ?? "") };
  },
  async createOrder(request) {
    return { orderId: request.projectId };
  },
  async listTerms() {
    return { terms: ["none"] };
  },
  async *watchOrders() {
    yield { orderId: "1" };
  },
  async import(requests) {
    let orders = 0;
    for await (const request of requests) orders += request.orderId.length;
    return { orders };
  },
});

export const exposure: string = accessPolicies[OrderService_GetOrder].exposure;
`;

/** The files of a repository from npm. */
const INSTALLED = /^(node_modules|package(-lock)?\.json)$/;

let folder: string;
/** A repository with the installed package; the installation is slow, so it is done once. */
let repo: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-stranger-"));
  repo = join(folder, "repo");
  mkdirSync(repo);
  writeFileSync(join(repo, "package.json"), '{"private": true, "type": "module"}\n');
  const packed = npm(["pack", ROOT, "--ignore-scripts", "--pack-destination", folder, "--json"]);
  const tarball = join(folder, (JSON.parse(packed) as [{ filename: string }])[0].filename);
  if (IS_THOROUGH) {
    const others = ["@bufbuild/buf", "@bufbuild/protoc-gen-es"];
    npm(["install", "--prefer-offline", "--save-dev", tarball, ...others]);
  } else installWithoutNpm(tarball);
}, 240_000);

/** Lays out the packed package as npm does, with links to the packages that it and a user need. */
function installWithoutNpm(tarball: string): void {
  const packages = join(repo, "node_modules");
  const own = join(packages, "svc-access");
  mkdirSync(join(packages, ".bin"), { recursive: true });
  mkdirSync(own);
  expect(runProgram("tar", ["xzf", tarball, "-C", own, "--strip-components=1"])).toMatchObject({
    status: 0,
  });
  const { bin, dependencies } = JSON.parse(readFileSync(join(own, "package.json"), "utf8"));
  for (const name of ["@bufbuild", ...Object.keys(dependencies)]) {
    const link = join(packages, name);
    if (existsSync(link)) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), link);
  }
  const programs: Record<string, string> = bin;
  for (const [name, path] of Object.entries(programs)) {
    symlinkSync(join(own, path), join(packages, ".bin", name));
  }
  for (const name of ["buf", "protoc-gen-es"]) {
    symlinkSync(join(BIN, name), join(packages, ".bin", name));
  }
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("without googleapis of its own", () => itWorks(false));
describe.runIf(IS_THOROUGH)("with googleapis from elsewhere", () => itWorks(true));

function itWorks(googleapis: boolean): void {
  beforeAll(() => {
    for (const name of readdirSync(repo)) {
      if (!INSTALLED.test(name)) rmSync(join(repo, name), { recursive: true });
    }
    npx(["svc-access", "init", ...(googleapis ? ["--googleapis"] : [])]);
    mkdirSync(join(repo, "proto/acme/orders/v1"), { recursive: true });
    writeFileSync(join(repo, "proto/acme/orders/v1/orders.proto"), PROTO);
    if (googleapis) {
      // As `buf export buf.build/googleapis/googleapis` would lay it out.
      cpSync(join(ROOT, "proto/google"), join(repo, "googleapis/google"), { recursive: true });
      const bufYaml = readFileSync(join(repo, "buf.yaml"), "utf8");
      writeFileSync(
        join(repo, "buf.yaml"),
        bufYaml.replace(
          "modules:\n",
          "modules:\n  - path: googleapis\n    lint:\n      ignore:\n        - googleapis\n",
        ),
      );
    }
  });

  test("buf lint has no findings, and reports an RPC without a policy at its position", () => {
    expect(npx(["buf", "lint"])).toBe("");
    const path = join(repo, "proto/acme/orders/v1/orders.proto");
    const broken = PROTO.replace("option (svc.access.v1.policy).exposure = AUTHENTICATED;", "");
    writeFileSync(path, broken);
    const line = broken.slice(0, broken.indexOf("rpc WatchOrders")).split("\n").length;
    const { status, stdout } = runProgram(join(repo, "node_modules/.bin/buf"), ["lint"], {
      cwd: repo,
      env: { PATH: `${join(repo, "node_modules/.bin")}:${process.env["PATH"]}` },
    });
    expect(status).toBe(100);
    expect(stdout).toContain(
      `proto/acme/orders/v1/orders.proto:${line}:3:WatchOrders has no access`,
    );
    writeFileSync(path, PROTO);
  });

  test("buf generate makes all targets, and the TypeScript type-checks", () => {
    npx(["buf", "generate"]);
    const made = readdirSync(join(repo, "gen"), { recursive: true, encoding: "utf8" });
    for (const name of [
      "policies.json",
      "routes/acme.orders.v1.json",
      "acme/orders/v1/orders_access.ts",
      "acme/orders/v1/orders_server.ts",
      "acme/orders/v1/orders_pb.ts",
    ]) {
      expect(made).toContain(name);
    }
    writeFileSync(join(repo, "tsconfig.json"), strict(join(repo, "tsconfig.json")));
    writeFileSync(join(repo, "handlers.ts"), HANDLERS);
    expect(runProgram(join(BIN, "tsc"), ["-p", "."], { cwd: repo })).toMatchObject({
      status: 0,
      stdout: "",
    });
  });

  test("a missing handler is a type error [COMP-8]", () => {
    writeFileSync(
      join(repo, "handlers.ts"),
      HANDLERS.replace(/ {2}async getOrder[\s\S]*? {2}\},\n/, ""),
    );
    const { status, stdout } = runProgram(join(BIN, "tsc"), ["-p", "."], { cwd: repo });
    expect(status).not.toBe(0);
    expect(stdout).toContain("getOrder");
  });
}

/** The configuration of `init` with all strict options, including the handlers. */
function strict(path: string): string {
  const { compilerOptions } = JSON.parse(readFileSync(path, "utf8"));
  return JSON.stringify({
    compilerOptions: {
      ...compilerOptions,
      types: [],
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noUnusedLocals: true,
      noPropertyAccessFromIndexSignature: true,
      isolatedModules: true,
    },
    include: ["*.ts", "gen"],
  });
}

/** Runs an installed program, as npx would. */
function npx([name = "", ...args]: readonly string[]): string {
  if (IS_THOROUGH) return npm(["exec", "--", name, ...args]);
  const folder = join(repo, "node_modules/.bin");
  const env = { PATH: `${folder}:${process.env["PATH"]}` };
  const { status, stdout, stderr } = runProgram(join(folder, name), args, { cwd: repo, env });
  if (status !== 0) throw new Error(`${name} ${args.join(" ")}: ${stderr}\n${stdout}`);
  return stdout;
}

function npm(args: readonly string[]): string {
  const { status, stdout, stderr } = runProgram("npm", args, {
    cwd: repo,
    env: {
      npm_config_fund: "false",
      npm_config_audit: "false",
      npm_config_update_notifier: "false",
    },
  });
  if (status !== 0) throw new Error(`npm ${args.join(" ")}: ${stderr}\n${stdout}`);
  return stdout;
}
