/** Starts and stops of a server in wrong orders, and its errors if it cannot start. */
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ServiceBinding } from "../../../src/runtime/index.ts";
import {
  createLogger,
  createServer,
  type ServerOptions,
  StartUpError,
} from "../../../src/runtime/index.ts";
import { freePort } from "../../support/free-port.ts";
import { bindVaultService } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { EchoService } from "../grpc/fixture/gen/fixture/v1/fixture_pb.ts";
import { vaultHandlers } from "../support/vault-handlers.ts";
import { vaultConfiguration } from "../support/vault-server.ts";

const ANY = "127.0.0.1:0";
const binding = bindVaultService(vaultHandlers());
let folder: string;
const lines: string[] = [];
const logger = createLogger({ destination: { write: (line) => void lines.push(line) } });

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-access-life-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function vault(server: object = {}, options: Partial<ServerOptions> = {}) {
  const config = { server: { http: { address: ANY }, grpc: { address: ANY }, ...server } };
  const configuration = vaultConfiguration(folder, {}, config);
  return createServer({ configuration, bindings: [binding], logger, ...options });
}

/** Whether a server listens. */
function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.on("error", () => resolve(false)).on("connect", () => socket.destroy());
  });
}

async function problemsOf(work: Promise<unknown>): Promise<readonly string[]> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StartUpError);
  return (error as StartUpError).problems;
}

describe("a server that cannot start", () => {
  test("reports all addresses in use, and closes what it opened", async () => {
    const taken: Server[] = [];
    for (let index = 0; index < 3; index++) {
      const server = createTcpServer().listen(0, "127.0.0.1");
      await new Promise((resolve) => server.once("listening", resolve));
      taken.push(server);
    }
    const [http, grpc, metrics] = taken.map((server) => {
      return `127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    const whole = {
      http: { address: http },
      grpc: { address: grpc },
      metrics: { address: metrics },
    };
    expect(await problemsOf((await vault(whole)).start())).toEqual([
      expect.stringMatching(`HTTP.*${http}.*in use`),
      expect.stringMatching(`gRPC.*${grpc}.*in use`),
      expect.stringMatching(`metrics.*${metrics}.*in use`),
    ]);
    // The addresses between two that are in use had been opened.
    const some = { http: { address: http }, metrics: { address: metrics } };
    const server = await vault(some);
    expect(await problemsOf(server.start())).toHaveLength(2);
    for (const one of taken) one.close();
    const again = await vault(some);
    await again.start();
    await again.stop();
  });

  test("names the process with the lock of its store, even if that is itself", async () => {
    const first = await vault();
    await expect(vault()).rejects.toThrow(
      new RegExp(`vault.relationships.db is held by process ${process.pid}`),
    );
    await first.stop();
  });

  test.each<[string, () => readonly ServiceBinding[], RegExp]>([
    ["a service is bound twice", () => [binding, binding], /VaultService is bound twice/],
    [
      "the generated code has another version",
      () => [{ ...binding, formatVersion: 7 as never }],
      /generated in format 7, and this runtime knows 1: run buf generate/,
    ],
    [
      "a handler is missing",
      () => {
        const { reset: _, ...others } = vaultHandlers();
        return [{ ...binding, handlers: others }];
      },
      /VaultService\/Reset has no handler: write reset/,
    ],
    ["the services have conflicting routes", () => [binding, meeting()], /serve the same requests/],
  ])("reports that %s", async (_, bindings, problem) => {
    const problems = await problemsOf(vault({}, { bindings: bindings() }));
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  test("handlers may have further methods", async () => {
    const handlers = { ...vaultHandlers(), helper: () => 1 };
    const server = await vault({}, { bindings: [bindVaultService(handlers)] });
    await server.stop();
  });
});

/** Another service with the path of a notice. */
function meeting(): ServiceBinding {
  const names = EchoService.methods.map(({ name }) => `${EchoService.typeName}/${name}`);
  const [notice] = binding.routes;
  if (notice === undefined) throw new Error("the vault has no routes");
  const handlers = EchoService.methods.map(({ localName }) => [localName, () => ({})]);
  return {
    formatVersion: binding.formatVersion,
    service: EchoService,
    policies: Object.fromEntries(
      names.map((name) => [name, { exposure: "PUBLIC", publish: false } as const]),
    ),
    routes: [{ ...notice, rpc: names[0] ?? "", variables: [] }],
    handlers: Object.fromEntries(handlers),
  };
}

describe("a server is", () => {
  test("started once", async () => {
    const server = await vault();
    const { http } = await server.start();
    expect(await problemsOf(server.start())).toEqual([expect.stringMatching(/already started/)]);
    // The first start is still valid.
    expect(await isOpen(http?.port ?? 0)).toBe(true);
    await server.stop();
  });

  test("not started again after it was stopped", async () => {
    const server = await vault();
    const { http } = await server.start();
    await server.stop();
    expect(await problemsOf(server.start())).toEqual([expect.stringMatching(/already started/)]);
    expect(await isOpen(http?.port ?? 0)).toBe(false);
  });

  test("stopped before its start, and then not started", async () => {
    let closed = 0;
    const server = await vault({}, { onClose: () => void closed++ });
    await server.stop();
    expect(await problemsOf(server.start())).toEqual([expect.stringMatching(/was stopped/)]);
    expect(closed).toBe(1);
  });

  test("stopped twice, concurrently and later, and closed once", async () => {
    let closed = 0;
    const server = await vault({}, { onClose: () => void closed++ });
    await server.start();
    await Promise.all([server.stop(), server.stop()]);
    await server.stop();
    expect(closed).toBe(1);
  });

  test.each([[["http", "grpc"]], [["grpc"]]])(
    "stopped while it starts, and then listens nowhere: %s",
    async (names) => {
      const ports = await Promise.all(names.map(freePort));
      const addresses = names.map((name, index) => {
        return [name, { address: `127.0.0.1:${ports[index]}` }] as const;
      });
      const none = { http: undefined, grpc: undefined };
      const server = await vault(
        { ...none, ...Object.fromEntries(addresses) },
        { bindings: [meeting()] },
      );
      const started = problemsOf(server.start());
      await server.stop();
      expect(await started).toEqual([expect.stringMatching(/was stopped/)]);
      expect(await Promise.all(ports.map(isOpen))).toEqual(names.map(() => false));
    },
  );
});

test("what is called when the server begins to stop comes first, and cannot keep it from stopping", async () => {
  const order: string[] = [];
  const server = await vault(
    {},
    {
      onStopping() {
        order.push("stopping");
        throw new Error("password=hunter2");
      },
      onClose: () => void order.push("closed"),
    },
  );
  await server.start();
  lines.length = 0;
  await Promise.all([server.stop(), server.stop()]);
  expect(order).toEqual(["stopping", "closed"]);
  expect(lines.join("")).toContain("onStopping failed");
  expect(lines.join("")).not.toContain("hunter2");
});

describe("a part that is closed last", () => {
  test.each<[string, () => void | Promise<void>, RegExp]>([
    ["fails", () => Promise.reject(new Error("password=hunter2")), /could not be closed/],
    [
      "throws",
      () => {
        throw new Error("password=hunter2");
      },
      /could not be closed/,
    ],
    ["hangs", () => new Promise(() => undefined), /not closed in time/],
  ])(
    "and %s is logged, and keeps no other part open",
    async (_, onClose, said) => {
      lines.length = 0;
      const server = await vault({}, { onClose });
      await server.start();
      await server.stop();
      expect(lines.join("")).toMatch(said);
      expect(lines.join("")).not.toContain("hunter2");
      // The store is free again.
      await (await vault()).stop();
    },
    20_000,
  );
});
