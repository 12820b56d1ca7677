/** The process when its code, its dependencies or its operator misbehave. */
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { columnsOf } from "../../support/effort.ts";
import type { MishapOptions } from "./support/child-mishap.ts";
import { Spawned } from "./support/spawned.ts";
import { readyz, until } from "./support/until.ts";

const SECOND = 1_000_000_000;
const ANY = { address: "127.0.0.1:0", timeout_ns: 100 * SECOND };
const folder = mkdtempSync(join(tmpdir(), "svc-access-process-"));
const spawned: Spawned[] = [];
/** Accepts connections and stays silent. */
let hole: Server;
const swallowed = new Set<Socket>();
let place: string;

beforeAll(async () => {
  hole = createServer((socket) => {
    swallowed.add(socket);
    socket.on("error", () => undefined).resume();
  });
  await new Promise<void>((resolve) => hole.listen(0, "127.0.0.1", resolve));
  place = `127.0.0.1:${(hole.address() as AddressInfo).port}`;
});
afterAll(() => {
  for (const { process } of spawned) process.kill("SIGKILL");
  for (const socket of swallowed) socket.destroy();
  hole.close();
  rmSync(folder, { recursive: true, force: true });
});

let count = 0;

function vault(options: Partial<MishapOptions> = {}, descriptors?: number): Spawned {
  const config = {
    server: { http: ANY, grpc: ANY, shutdown_timeout_ns: 20 * SECOND },
    database: { driver: "sqlite", file: join(folder, `vault-${++count}.db`) },
    ...options.config,
  };
  const child = new Spawned("child-mishap.ts", { folder, ...options, config }, descriptors);
  spawned.push(child);
  return child;
}

async function notice(port: number, id: string, headers: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${port}/v1/notices/${id}`, { headers });
  return response.status;
}

describe("an uncaught error ends the process with 1, and is logged without secrets,", () => {
  const mishaps: readonly [where: string, id: string, headers: Record<string, string>][] = [
    ["in a promise of a handler", "reject", {}],
    ["in a timer of a handler", "throw", {}],
    ["in a promise of an interceptor", "n", { "x-mishap": "1" }],
  ];
  test.each(columnsOf(mishaps, 2, 3))(
    "%s: it is logged, and calls under way are finished",
    async (_, id, headers) => {
      const child = vault();
      const port = await child.httpPort();
      const slow = notice(port, "sleep-1000");
      await child.line("begun sleep-1000");
      const mishap = notice(port, id, headers);
      const line = await child.line("uncaught error: the process ends");
      expect(line).toMatchObject({
        level: "error",
        service: "vault",
        error: {
          message: expect.stringMatching(/(a stray rejection|thrown in a timer), password=\*\*\*/),
        },
      });
      expect(await Promise.all([slow, mishap])).toEqual([200, 200]);
      expect(await child.ended).toBe(1);
      expect(child.output + child.errors).not.toContain("hunter2");
      expect(child.lines.at(-1)).toMatchObject({ message: "stopped" });
    },
  );

  test("before the server exists: it is reported, and the process ends at once", async () => {
    const child = vault({ atStart: "rejects" });
    expect(await child.ended).toBe(1);
    expect(child.errors).toMatch(
      /^uncaught error: a stray rejection, password=\*\*\*\n\\u003a:stop-commands::\\u001b\[2J\n$/,
    );
  });
});

test("a missing secret file of a client ends the start with 2, and is named", async () => {
  const child = vault({ atStart: "lacks a secret" });
  expect(await child.ended).toBe(2);
  expect(child.errors).toMatch(
    /^the server does not start: the secret file .*no-token does not exist; create it, or name another file\n$/,
  );
});

describe("a signal while the process starts ends it with 0", () => {
  test.each(columnsOf(["SIGTERM", "SIGINT"] as const, 1, 2))(
    "%s, in the service's own code",
    async (signal) => {
      const child = vault({ atStart: "hangs" });
      await child.line("loading");
      child.process.kill(signal);
      expect(await child.ended).toBe(0);
      expect(child.errors).toBe(`${signal} ends the process before the server was created\n`);
    },
  );

  test("while a database does not answer", async () => {
    const url = `postgres://u:hunter2@${place}/d`;
    const child = vault({ config: { database: { driver: "postgres", url } } });
    await until("it has connected", () => swallowed.size > 0);
    child.process.kill("SIGTERM");
    expect(await child.ended).toBe(0);
    expect(child.errors).not.toContain("hunter2");
  });
});

describe("a dependency that accepts connections and stays silent", () => {
  test("the database: the process reports it, and ends with 2", async () => {
    const url = `postgres://u:hunter2@${place}/d`;
    const child = vault({ config: { database: { driver: "postgres", url } } });
    expect(await child.ended).toBe(2);
    expect(child.errors).toContain(`the server does not start: the PostgreSQL store d at ${place}`);
    expect(child.errors.trim().split("\n")).toHaveLength(1);
    expect(child.errors).not.toContain("hunter2");
  });

  test("SpiceDB and etcd: calls that need neither are served, readiness names what is missing, and the process ends in time", async () => {
    const spicedb = { endpoint: place, token: "hunter2", insecure: true };
    const registry = { etcd: { endpoints: [`http://${place}`] } };
    const security = { authz: { provider: "spicedb", spicedb } };
    const child = vault({ security, config: { registry } });
    const port = await child.httpPort();
    expect(await notice(port, "n")).toBe(200);
    const { status, reasons } = await readyz(port);
    expect(status).toBe(503);
    expect(reasons).toContain("authorization engine: ");
    expect(reasons).toContain("route registry: the routes are not published yet");
    child.process.kill("SIGTERM");
    expect(await child.ended).toBe(0);
    expect(child.output).not.toContain("hunter2");
  });
});

test("SIGTERM ends the process after a handler that blocks the event loop", async () => {
  const child = vault();
  const port = await child.httpPort();
  const blocking = notice(port, "block-3000");
  await child.line("begun block-3000");
  const late = notice(port, "n");
  child.process.kill("SIGTERM");
  expect(await blocking).toBe(200);
  // Whether or not its connection was accepted, it does not wait forever.
  await late.catch(() => undefined);
  expect(await child.ended).toBe(0);
});

test("a handler that never ends does not keep the process alive", async () => {
  const server = { http: ANY, shutdown_timeout_ns: SECOND / 2, grpc: ANY };
  const child = vault({ config: { server } });
  const port = await child.httpPort();
  const never = notice(port, "never");
  await child.line("begun never");
  child.process.kill("SIGTERM");
  expect(await never).toBe(503);
  expect(await child.ended).toBe(0);
});

test("a part that never closes does not keep the process alive", async () => {
  const child = vault({ atEnd: "hangs" });
  await child.httpPort();
  child.process.kill("SIGTERM");
  expect(await child.ended).toBe(0);
  await child.line("a part was not closed in time and is abandoned");
});

describe.runIf(process.platform === "linux")("without a free file descriptor", () => {
  test("new connections are closed and logged, and later ones are served", async () => {
    const child = vault({}, 64);
    const port = await child.httpPort();
    const sockets = new Set<Socket>();
    let isFull = true;
    const open = (): void => {
      const socket = connect(port, "127.0.0.1");
      sockets.add(socket);
      socket
        .on("error", () => undefined)
        .on("close", () => {
          sockets.delete(socket);
          // The server closes silent connections after a time, so others replace them.
          if (isFull) setTimeout(open, 50);
        })
        .resume();
    };
    const release = (): void => {
      isFull = false;
      for (const socket of sockets) socket.destroy();
    };
    onTestFinished(release);
    for (let count = 0; count < 100; count++) open();
    const line = await child.line(
      "no file descriptor is free, and new connections are closed: raise the limit (ulimit -n), or find out who keeps connections open",
    );
    expect(line).toMatchObject({ level: "error", open: 64, limit: 64 });
    release();
    await until(
      "it is served again",
      async () => (await readyz(port).catch(() => undefined))?.status === 200,
    );
    child.process.kill("SIGTERM");
    expect(await child.ended).toBe(0);
  });
});
