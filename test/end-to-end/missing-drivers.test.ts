/** Drivers are optional peer dependencies, and an error names a missing one. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { type Outcome, runProgram } from "../support/programs.ts";
import { ROOT } from "../support/workspace.ts";

const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

const MISSING = {
  postgres: "PostgreSQL needs the package pg, which is not installed: run npm install pg",
  spicedb:
    "SpiceDB needs the package @authzed/authzed-node, which is not installed: run npm install @authzed/authzed-node",
  etcd: "etcd needs the package etcd3, which is not installed: run npm install etcd3",
};

const SQLITE = { driver: "sqlite", file: "service.db" };
const POSTGRES = { driver: "postgres", url: "postgres://u:p@127.0.0.1:1/db" };
const SPICEDB = { endpoint: "127.0.0.1:1", token: "a-preshared-key", insecure: true };
const ETCD = { etcd: { endpoints: ["http://127.0.0.1:1"] } };

/** A project with this package and its dependencies, and none of its peers. */
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-drivers-"));
  const installed = join(folder, "node_modules/svc-access");
  for (const name of ["package.json", "bin", "dist"]) {
    // Not a link: Node.js resolves imports from the real path of a file.
    cpSync(join(ROOT, name), join(installed, name), { recursive: true });
  }
  for (const name of Object.keys(manifest.dependencies)) {
    const path = join(folder, "node_modules", name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), path);
  }
  writeFileSync(join(folder, "package.json"), '{"private": true, "type": "module"}\n');
  for (const name of ["gen", "src", "model.zed"]) {
    cpSync(join(ROOT, "examples/notes", name), join(folder, name), { recursive: true });
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(script: string): Outcome {
  return runProgram(process.execPath, ["--input-type=module", "--eval", script], { cwd: folder });
}

/** Runs a service of a configuration until it has started. */
function serve(config: object): Outcome {
  const content = {
    environment: "development",
    service: "notes",
    server: { http: { address: "127.0.0.1:0" } },
    ...config,
  };
  writeFileSync(join(folder, "service.yaml"), stringify(content));
  return run(`
    import { createAuthorizationEngine, loadServiceConfig, runServer } from "svc-access/runtime";
    import { bindNotesService } from "./gen/notes/v1/notes_server.ts";
    import { handlers } from "./src/handlers.ts";
    const server = await runServer(async () => {
      const configuration = loadServiceConfig("service.yaml");
      const { authz } = configuration.config.security;
      const engine = authz.model === undefined || authz.dev_allow_all
        ? undefined
        : await createAuthorizationEngine(configuration.config);
      const bindings = [bindNotesService(handlers(engine))];
      return { configuration, bindings, ...(engine && { engine }) };
    });
    await server.stop();`);
}

test("these packages are optional, and users need no others [PKG-3]", () => {
  expect(Object.keys(manifest.peerDependencies)).toEqual([
    "@authzed/authzed-node",
    "@types/node",
    "etcd3",
    "pg",
  ]);
  for (const name of Object.keys(manifest.peerDependencies)) {
    expect(manifest.peerDependenciesMeta[name], name).toEqual({ optional: true });
  }
  expect(Object.keys(manifest.dependencies)).toEqual([
    "@bufbuild/protobuf",
    "@opentelemetry/api",
    "pino",
  ]);
});

test("service code imports its dependencies at the start, and drivers on demand", () => {
  const always = new Set<string>();
  const onDemand = new Set<string>();
  const waiting = ["authz", "runtime", "runtime-registry", "testing", "svc-access-operator"].map(
    (name) => join(ROOT, "dist", `${name}.js`),
  );
  const seen = new Set<string>();
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const text = readFileSync(file, "utf8");
    const imports = [...text.matchAll(/^(?:import|export)\b[^"'`;()]*?"([^"]+)";$/gm)];
    const loads = [...text.matchAll(/(?<![.\w])import\("([^"]+)"\)/g)];
    for (const [kind, found] of [
      [always, imports],
      [onDemand, loads],
    ] as const) {
      for (const [, path = ""] of found) {
        if (path.startsWith(".")) waiting.push(join(dirname(file), path));
        else if (!isBuiltin(path)) kind.add(packageOf(path));
      }
    }
  }
  expect([...always].sort()).toEqual(["@bufbuild/protobuf", "pino"]);
  expect([...onDemand].sort()).toEqual(["@authzed/authzed-node", "etcd3", "pg"]);
});

test("a start names all drivers at once that its configuration needs [PKG-3]", () => {
  const authz = { provider: "spicedb", model: "model.zed", spicedb: SPICEDB };
  const { status, stderr } = serve({ database: POSTGRES, security: { authz }, registry: ETCD });
  expect(stderr).toBe(
    [
      "the server does not start: 3 problems:",
      `database.driver: ${MISSING.postgres}`,
      `security.authz.provider: ${MISSING.spicedb}`,
      `registry.etcd: ${MISSING.etcd}`,
      "",
    ].join("\n"),
  );
  expect(status).toBe(2);
});

test("a missing driver is reported with all other errors", () => {
  const { stderr } = serve({ database: POSTGRES });
  expect(stderr).toContain("security.authz.model is missing");
  expect(stderr).toContain(`\ndatabase.driver: ${MISSING.postgres}\n`);
});

test("a service without checks needs no SpiceDB client", () => {
  const authz = { provider: "spicedb", spicedb: SPICEDB, dev_allow_all: true, model: "model.zed" };
  expect(serve({ database: SQLITE, security: { authz } })).toMatchObject({ status: 0, stderr: "" });
});

test("a service without AUTHORIZED RPCs needs no SpiceDB client", () => {
  const config = {
    environment: "development",
    service: "notes",
    server: { http: { address: "127.0.0.1:0" } },
    security: { authz: { provider: "spicedb", spicedb: SPICEDB, model: "model.zed" } },
  };
  writeFileSync(join(folder, "service.yaml"), stringify(config));
  const outcome = run(`
    import { loadServiceConfig, runServer } from "svc-access/runtime";
    import { bindNotesService } from "./gen/notes/v1/notes_server.ts";
    import { handlers } from "./src/handlers.ts";
    const server = await runServer(async () => {
      const binding = bindNotesService(handlers());
      const policies = Object.fromEntries(
        Object.keys(binding.policies).map((rpc) => [rpc, { exposure: "AUTHENTICATED" }]),
      );
      const configuration = loadServiceConfig("service.yaml");
      return { configuration, bindings: [{ ...binding, policies }] };
    });
    await server.stop();`);
  expect(outcome).toMatchObject({ status: 0, stderr: "" });
});

test("a service over SQLite needs none of them", () => {
  const outcome = serve({ database: SQLITE, security: { authz: { model: "model.zed" } } });
  expect(outcome).toMatchObject({ status: 0, stderr: "" });
  expect(outcome.stdout).toContain('"message":"started"');
});

test.each([
  {
    name: "openPostgresStore",
    script: `import { openPostgresStore } from "svc-access/authz";
      await openPostgresStore({ url: "postgres://u:p@127.0.0.1:1/db" });`,
    message: MISSING.postgres,
  },
  {
    name: "createSpicedbEngine",
    script: `import { createSpicedbEngine, parseModel } from "svc-access/authz";
      const { model } = parseModel("definition user {}", "model.zed");
      await createSpicedbEngine({ endpoint: "127.0.0.1:1", token: "key", insecure: true, model });`,
    message: MISSING.spicedb,
  },
  {
    name: "svc-access/runtime/registry",
    script: `await import("svc-access/runtime/registry");`,
    message: MISSING.etcd,
  },
])("$name names the package that it lacks", ({ script, message }) => {
  const { status, stderr } = run(script);
  expect(stderr).toContain(`MissingDriverError: ${message}\n`);
  expect(status).toBe(1);
});

test.each([
  ["audit", "list", "--store", POSTGRES.url],
  ["relationship", "list", "--store", POSTGRES.url],
])("svc-access %s %s names the package that it lacks, without a stack trace", (...args) => {
  const bin = join(folder, "node_modules/svc-access/bin/svc-access");
  const { status, stderr } = runProgram(process.execPath, [bin, ...args], { cwd: folder });
  expect(stderr).toBe(`svc-access: ${MISSING.postgres}\n`);
  expect(status).toBe(2);
});

test("an error of a driver itself is not reported as a missing driver", () => {
  const broken = join(folder, "node_modules/etcd3");
  mkdirSync(broken);
  writeFileSync(join(broken, "package.json"), '{"name": "etcd3", "main": "index.cjs"}');
  writeFileSync(join(broken, "index.cjs"), 'require("not-there");');
  const { stderr } = run(`await import("svc-access/runtime/registry");`);
  rmSync(broken, { recursive: true });
  expect(stderr).toContain("Cannot find module 'not-there'");
  expect(stderr).not.toContain("MissingDriverError");
});

/** The package of a path that is imported. */
function packageOf(path: string): string {
  const parts = path.split("/");
  return parts.slice(0, path.startsWith("@") ? 2 : 1).join("/");
}
