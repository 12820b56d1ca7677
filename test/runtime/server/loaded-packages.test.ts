/** Large packages are loaded when they are needed, since each start waits for them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { stringify } from "yaml";

const folder = mkdtempSync(join(tmpdir(), "svc-access-loaded-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LARGE = ["@authzed/authzed-node", "@grpc/grpc-js", "etcd3", "pg"];
/** Modules that are bundled, or loaded only if they are registered: prom-client loads both from its source. */
const NOT_BUILT = ["@opentelemetry/api", "prom-client"];

const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);

/** Prints the large packages that the process has loaded, as a line. */
const PRINT_LOADED = `
    import { registerHooks } from "node:module";
    const urls = [];
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
    const printLoaded = () => {
      const isLoaded = (name) => urls.some((url) => url.includes("/node_modules/" + name + "/"));
      console.log(JSON.stringify(${JSON.stringify([...LARGE, ...NOT_BUILT])}.filter(isLoaded)));
    };`;

const ADDRESS = { address: "127.0.0.1:0" };
const BUILT = stringify({
  environment: "development",
  service: "built",
  server: { http: ADDRESS, grpc: ADDRESS, metrics: ADDRESS },
  security: { authn: { mode: "gateway_trusted" }, authz: { enabled: false } },
  database: { driver: "sqlite", file: "built.db" },
});

/** The output of a script, one value per line. */
function run(script: string): unknown[] {
  const options = { encoding: "utf8", timeout: 60_000 } as const;
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", script], options);
  expect(child.stderr.replace("UNAVAILABLE\n", "")).toBe("");
  return child.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** The large packages that a process with a server has loaded. */
function loadedBy(config: object): unknown {
  const [loaded] = run(`${PRINT_LOADED}
    const { bindVaultService } = await import(${url("../fixture/gen/acme/vault/v1/vault_server.ts")});
    const { vaultHandlers } = await import(${url("../support/vault-handlers.ts")});
    const { vaultConfiguration } = await import(${url("../support/vault-server.ts")});
    const { createLogger, createServer } = await import(${url("../../../src/runtime/index.ts")});
    const server = await createServer({
      configuration: vaultConfiguration(${JSON.stringify(folder)}, {}, ${JSON.stringify(config)}),
      bindings: [bindVaultService(vaultHandlers())],
      logger: createLogger({ destination: { write: () => undefined } }),
    }).catch((error) => (console.error(error.code), undefined));
    await server?.stop();
    printLoaded();`);
  return (loaded as string[]).filter((name) => LARGE.includes(name));
}

test("a server over SQLite loads no client of gRPC, PostgreSQL, SpiceDB or etcd", () => {
  expect(loadedBy({})).toEqual([]);
});

test("a gRPC client loads its library at its first call", () => {
  const printed = run(`${PRINT_LOADED}
    const { VaultService } = await import(${url("../fixture/gen/acme/vault/v1/vault_pb.ts")});
    const { createGrpcClient } = await import(${url("../../../src/runtime/index.ts")});
    const client = createGrpcClient(VaultService, { target: "127.0.0.1:1", retry: false });
    printLoaded();
    const { code } = await client.getNotice({}).catch((error) => error);
    console.log(JSON.stringify(code));
    printLoaded();
    await client.close();`);
  const [before, code, after] = printed;
  expect(before).not.toContain("@grpc/grpc-js");
  expect(code).toBe("UNAVAILABLE");
  expect(after).toContain("@grpc/grpc-js");
});

test("a server over PostgreSQL loads that client", () => {
  const database = { driver: "postgres", url: "postgres://u:p@127.0.0.1:1/db" };
  expect(loadedBy({ database })).toContain("pg");
});

test("the bundles load no large package at their start, nor Node's fetch and WebSocket [COMP-9]", () => {
  const fetch = '"NativeModule internal/deps/undici/undici"';
  const loaded = run(`${PRINT_LOADED}
    import { writeFileSync } from "node:fs";
    const { createLogger, createServer, loadServiceConfig } = await import(${url("../../../dist/runtime.js")});
    const { bindVaultService } = await import(${url("../fixture/gen/acme/vault/v1/vault_server.ts")});
    const { vaultHandlers } = await import(${url("../support/vault-handlers.ts")});
    const folder = ${JSON.stringify(folder)};
    writeFileSync(folder + "/built.yaml", ${JSON.stringify(BUILT)});
    const server = await createServer({
      configuration: loadServiceConfig(folder + "/built.yaml"),
      bindings: [bindVaultService(vaultHandlers())],
      logger: createLogger({ destination: { write: () => undefined } }),
    });
    await server.start();
    printLoaded();
    console.log(process.moduleLoadList.includes(${fetch}));
    await server.stop();
    globalThis.fetch;
    Headers;
    console.log(process.moduleLoadList.includes(${fetch}));`);
  expect(loaded).toEqual([[], false, true]);
});
