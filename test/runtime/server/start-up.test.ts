/** Configurations with which a server refuses to start, leaving nothing behind. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ServiceConfig } from "../../../src/runtime/configuration/service-config.ts";
import type { ServerOptions } from "../../../src/runtime/index.ts";
import { createServer, readRouteDocument, StartUpError } from "../../../src/runtime/index.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { FIXTURE, startVault, vaultConfiguration } from "../support/vault-server.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-start-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const routes = readRouteDocument(join(FIXTURE, "gen/routes/vault.json"));
const binding = bindVaultService(vaultHandlers());
const NOTICE = "acme.vault.v1.VaultService/GetNotice";

async function problemsOf(
  options: Partial<ServerOptions>,
  { security = {}, config = {} }: { security?: object; config?: object } = {},
): Promise<readonly string[]> {
  const configuration = vaultConfiguration(folder, security, config);
  const started = createServer({ configuration, bindings: [binding], ...options });
  const error = await started.then(
    async (server) => {
      await server.stop();
      return undefined;
    },
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StartUpError);
  return (error as StartUpError).problems;
}

describe("a server does not start if", () => {
  test("the routes are of another service", async () => {
    const problems = await problemsOf({ routes: { ...routes, service: "hub" } });
    expect(problems.join("\n")).toMatch(
      /the routes belong to hub, but .* to (\w+): correct "service" there, or pass the routes of \1$/m,
    );
  });

  test.each<[string, unknown, string]>([
    ["is null", null, "schema version none"],
    ["is a list", [], "schema version none"],
    ["is text", "routes.json", "schema version none"],
    ["is of another version", { ...routes, schemaVersion: 2 }, "schema version 2"],
    ["allows the opaque origin", { ...routes, allowedOrigins: ["null"] }, "allowedOrigins.0"],
    ["allows all origins", { ...routes, allowedOrigins: ["*"] }, "allowedOrigins.0"],
    [
      "allows a pattern",
      { ...routes, allowedOrigins: ["https://*.a.example"] },
      "allowedOrigins.0",
    ],
    ["has an origin that is a number", { ...routes, allowedOrigins: [1] }, "allowedOrigins.0"],
    [
      "has origins that are text",
      { ...routes, allowedOrigins: "https://a.example" },
      "allowedOrigins",
    ],
    ["has invalid paths", { ...routes, paths: [{ path: "x" }] }, "paths.0"],
    ["has no routes", { ...routes, routes: undefined }, "routes"],
  ])("the route document %s, and what is open is closed", async (_, given, place) => {
    let closed = 0;
    const problems = await problemsOf({
      routes: given as NonNullable<ServerOptions["routes"]>,
      onClose: () => void closed++,
    });
    expect(problems).toEqual([expect.stringContaining(place)]);
    expect(problems[0]).toContain("readRouteDocument");
    expect(closed).toBe(1);
  });

  test("the routes name an RPC that is not bound, and lack one that is [EXP-6]", async () => {
    const [first, ...others] = routes.routes;
    if (first === undefined) throw new Error("the fixture has no routes");
    const stray = { ...first, entry: { ...first.entry, rpc: "acme.vault.v1.VaultService/Other" } };
    const problems = await problemsOf({ routes: { ...routes, routes: [stray, ...others] } });
    expect(problems).toEqual([
      expect.stringContaining("VaultService/Other, which is not bound"),
      expect.stringContaining("GetNotice is bound, but not in the routes"),
    ]);
  });

  test("the routes have no RPC of a package: the configuration that lacks it is named", async () => {
    const problems = await problemsOf({ routes: { ...routes, routes: [] } });
    expect(problems).toEqual([
      expect.stringMatching(
        /^acme\.vault\.v1\.VaultService\/\w+ and \d+ more is bound, but not in the routes, which have nothing of the package acme\.vault\.v1: list it under services\.vault\.packages in svc-access\.yaml, and run buf generate$/,
      ),
    ]);
  });

  test.each([
    ["handler", { handlers: { ...vaultHandlers(), getNotice: undefined } }, "write getNotice of"],
    [
      "policy",
      { policies: { ...binding.policies, [NOTICE]: undefined } },
      "run buf generate again",
    ],
  ])("an RPC of the routes has no %s: it is reported once", async (what, change, fix) => {
    const bindings = [{ ...binding, ...change }] as never;
    const problems = await problemsOf({ routes, bindings });
    expect(problems).toEqual([expect.stringContaining(`${NOTICE} has no ${what}: ${fix}`)]);
  });

  test("a service of the routes was generated in another format: its RPCs are not listed", async () => {
    const bindings = [{ ...binding, formatVersion: 2 }] as never;
    const problems = await problemsOf({ routes, bindings });
    expect(problems).toEqual([expect.stringContaining("was generated in format 2")]);
  });

  test("the routes have another exposure than the binding", async () => {
    const changed = routes.routes.map(({ key, entry }) => {
      return { key, entry: { ...entry, exposure: "PUBLIC" as const } };
    });
    const problems = await problemsOf({ routes: { ...routes, routes: changed } });
    expect(problems).toContainEqual(
      expect.stringMatching(/is PUBLIC, but its binding is AUTHORIZED/),
    );
  });

  test("a raw handler has no declared path", async () => {
    const problems = await problemsOf({
      routes,
      rawHandlers: [{ path: "/open", handle: () => ({ status: 200 }) }],
    });
    expect(problems).toEqual([
      expect.stringMatching(/\/open has no declared path.*\/pages, \/account/),
    ]);
  });

  test.each(["AUTHORIZED", "INTERNAL", "SYSTEM"])(
    "a raw handler has a path that is %s, which would not be enforced",
    async (exposure) => {
      const paths = [{ path: "/pages", match: "exact", methods: ["GET"], exposure }] as never;
      const handler = { path: "/pages", handle: () => ({ status: 200 }) };
      const problems = await problemsOf({ routes: { ...routes, paths }, rawHandlers: [handler] });
      expect(problems).toEqual([expect.stringContaining("paths.0.exposure")]);
    },
  );

  test("there is a raw handler without any declared path", async () => {
    const handler = { path: "/pages", handle: () => ({ status: 200 }) };
    const problems = await problemsOf({ rawHandlers: [handler] });
    expect(problems).toEqual([
      expect.stringMatching(/\/pages has no declared path.*declared paths: none$/),
    ]);
  });

  test("a declared path has an invalid pattern, or a raw handler serves the path of an RPC", async () => {
    const handle = () => ({ status: 200 });
    const route = binding.routes.find(
      ({ method, path }) => method === "GET" && !path.includes("{"),
    );
    for (const [path, problem] of [
      ["/a//b", /^\/a\/\/b: /],
      [route?.path ?? "", /^GET .* of a raw handler and GET .* serve the same requests$/],
    ] as const) {
      const paths = [{ path, match: "exact", methods: ["GET"], exposure: "PUBLIC" }] as const;
      const rawHandlers = [{ path, handle }];
      const problems = await problemsOf({ routes: { ...routes, paths }, rawHandlers });
      expect(problems).toEqual([expect.stringMatching(problem)]);
    }
  });

  test("there are two raw handlers of a path", async () => {
    const handler = { path: "/pages", handle: () => ({ status: 200 }) };
    const problems = await problemsOf({ routes, rawHandlers: [handler, handler] });
    expect(problems).toEqual(["there are two raw handlers of /pages"]);
  });

  test("an RPC is audited and there is no database", async () => {
    const { engine, stop } = await startVault();
    const loaded = vaultConfiguration(folder, {}, {});
    const { database: _, ...config } = loaded.config;
    const problems = await problemsOf({ engine, configuration: { ...loaded, config } });
    await stop();
    expect(problems).toEqual([
      expect.stringMatching(/ must be audited, but there is no database: /),
    ]);
  });

  test.each<[string, (config: ServiceConfig) => ServiceConfig, RegExp]>([
    [
      "there is nothing that it could serve with",
      ({ server: { http: _, grpc: __, ...server }, ...config }) => ({ ...config, server }),
      /^server\.http or server\.grpc is needed: /,
    ],
    [
      "there is no HTTP server for raw handlers",
      ({ server: { http: _, ...server }, ...config }) => ({ ...config, server }),
      /^there are raw handlers, but no server\.http to serve them$/,
    ],
    [
      "its engine is SpiceDB without an address",
      ({ security, ...config }) => {
        const { spicedb: _, ...authz } = security.authz;
        return { ...config, security: { ...security, authz: { ...authz, provider: "spicedb" } } };
      },
      /must be authorized, but security\.authz\.spicedb is missing: the provider is spicedb$/,
    ],
  ])("%s", async (_, change, problem) => {
    const loaded = vaultConfiguration(folder, {}, {});
    const handler = { path: "/pages", handle: () => ({ status: 200 }) };
    const problems = await problemsOf({
      configuration: { ...loaded, config: change(loaded.config) },
      routes,
      rawHandlers: [handler],
    });
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  test("the model is missing or invalid", async () => {
    const file = join(folder, "wrong.zed");
    writeFileSync(file, "definition user {}\ndefinition document { permission view = viewer }\n");
    for (const model of [file, join(folder, "none.zed")]) {
      const problems = await problemsOf({}, { security: { authz: { model } } });
      expect(problems.join("\n")).toMatch(/wrong\.zed:2:\d+ |none\.zed does not exist/);
    }
  });

  test("the model lacks permissions of policies", async () => {
    const file = join(folder, "small.zed");
    writeFileSync(
      file,
      "definition user {}\ndefinition document { relation viewer: user\n permission view = viewer\n }\n",
    );
    const problems = await problemsOf({}, { security: { authz: { model: file } } });
    expect(problems).toEqual([expect.stringMatching(/UpdateDocument could never be authorized/)]);
  });

  test("there are several problems: all are reported", async () => {
    const problems = await problemsOf({
      bindings: [{ ...binding, policies: {} }],
      routes: { ...routes, service: "hub" },
      rawHandlers: [{ path: "/open", handle: () => ({ status: 200 }) }],
    });
    expect(problems.length).toBeGreaterThan(10);
  });
});

test("a port in use is reported, and nothing is left open", async () => {
  const taken = createTcpServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as AddressInfo;
  let isClosed = false;
  const configuration = vaultConfiguration(
    folder,
    {},
    {
      server: { http: { address: "127.0.0.1:0" }, grpc: { address: `127.0.0.1:${port}` } },
    },
  );
  const server = await createServer({
    configuration,
    bindings: [binding],
    onClose: () => {
      isClosed = true;
    },
  });
  await expect(server.start()).rejects.toThrow(new RegExp(`${port}.*(in use|taken)`));
  expect(isClosed).toBe(true);
  taken.close();
  // The lock of the store is released.
  const again = await createServer({
    configuration: vaultConfiguration(folder, {}, {}),
    bindings: [binding],
  });
  await again.stop();
});

test("every start warns about dangerous settings [AUTHN-12]", async () => {
  const vault = await startVault({ security: { authn: { mode: "disabled" } } });
  await vault.stop();
  expect(vault.lines.join("")).toMatch(/"level":"warn".*security\.authn\.mode is disabled/);
});

test("a start warns about a declared path without a handler, but not about probes", async () => {
  const path = (name: string) => {
    return { path: name, match: "exact", methods: ["GET"], exposure: "PUBLIC" } as const;
  };
  const paths = ["/healthz", "/readyz", "/pages", "/account", "/account"].map(path);
  const vault = await startVault({
    routes: { ...routes, paths },
    rawHandlers: [{ path: "/pages", handle: () => ({ status: 200 }) }],
  });
  const served = await Promise.all(
    ["/healthz", "/readyz", "/pages", "/account"].map(async (name) => {
      return (await fetch(`http://127.0.0.1:${vault.http}${name}`)).status;
    }),
  );
  await vault.stop();
  expect(served).toEqual([200, 200, 200, 404]);
  const lines = vault.lines.map((line) => JSON.parse(line));
  const notified = lines.filter(
    ({ level, message }) => level === "warn" && /declared/.test(message),
  );
  expect(notified.map(({ message }) => message)).toEqual([
    "nothing serves the declared path /account, so it answers 404: pass a raw handler for it, or remove it from paths in svc-access.yaml",
  ]);
});
