/** How long the connections of a service last, by its configuration. */
import { once } from "node:events";
import { Agent, Server as HttpServer, type IncomingMessage, request } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { connect as connectTcp } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { rawCall } from "../grpc/support/raw-call.ts";
import { readAll } from "../http/support.ts";
import { type RunningVault, startVault } from "../support/vault-server.ts";

const PORTS = ["grpc", "http"] as const;
const NOTICE = "/acme.vault.v1.VaultService/GetNotice";
const MS = 1_000_000;
const SECOND = 1000;
const AGE = 100 * SECOND;
/** A connection becomes so old a tenth sooner or later. */
const YOUNG = 0.9 * AGE - 2 * SECOND;
const OLD = 1.1 * AGE + 2 * SECOND;

const closing: (() => unknown)[] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});

/** A service whose calls with the header `x-hold` wait for `release`. */
async function started(times: object) {
  let release: () => void = () => undefined;
  let begun: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const called = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const port = { address: "127.0.0.1:0", ...times };
  const vault = await startVault({
    config: { server: { http: port, grpc: port } },
    after: [
      async (call, next) => {
        if (call.headers.all("x-hold").length > 0) {
          begun();
          await held;
        }
        return next();
      },
    ],
  });
  closing.push(() => vault.stop(), release);
  return { vault, called, release };
}

function opened(vault: RunningVault, port: "grpc" | "http"): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${vault[port]}`);
  session.on("error", () => undefined);
  closing.push(() => session.destroy());
  return session;
}

/** Lets time pass, in which both sides hear from each other. */
async function pass(milliseconds: number): Promise<void> {
  for (let rest = milliseconds; rest > 0; rest -= SECOND) {
    vi.advanceTimersByTime(Math.min(rest, SECOND));
    for (let turn = 0; turn < 4; turn++) await nextTurn();
  }
}

describe.each(PORTS)("a connection of HTTP/2 on the port of %s", (port) => {
  test("accepts no calls beyond its maximum age, and ends", async () => {
    const idle = { max_connection_idle_ns: 2 * AGE * MS };
    const { vault } = await started({ max_connection_age_ns: AGE * MS, ...idle });
    const session = opened(vault, port);
    const goaway = once(session, "goaway");
    const closed = once(session, "close");
    await pass(YOUNG);
    expect((await rawCall(session, NOTICE)).grpcStatus).toBe(0);
    expect(session.closed).toBe(false);
    await pass(OLD - YOUNG);
    expect((await goaway)[0]).toBe(0);
    await closed;
  });

  test("ends when it has no call, but not during one", async () => {
    const { vault, called, release } = await started({ max_connection_idle_ns: 50 * SECOND * MS });
    const [busy, idle] = [opened(vault, port), opened(vault, port)];
    const call = rawCall(busy, NOTICE, { "x-hold": "1" });
    await called;
    expect((await rawCall(idle, NOTICE)).grpcStatus).toBe(0);
    await pass(49 * SECOND);
    expect([busy.closed, idle.closed]).toEqual([false, false]);
    const ended = once(idle, "close");
    await pass(2 * SECOND);
    await ended;
    expect(busy.closed).toBe(false);
    release();
    expect((await call).grpcStatus).toBe(0);
  });

  test("waits for its calls, for the configured time", async () => {
    const times = {
      max_connection_age_ns: AGE * MS,
      max_connection_age_grace_ns: 50 * SECOND * MS,
    };
    const { vault, called, release } = await started(times);
    const [kept, cut] = [opened(vault, port), opened(vault, port)];
    const calls = [kept, cut].map((session) => rawCall(session, NOTICE, { "x-hold": "1" }));
    await called;
    const reported = Promise.all([kept, cut].map((session) => once(session, "goaway")));
    await pass(OLD);
    await reported;
    expect(cut.destroyed).toBe(false);
    await pass(50 * SECOND + 0.2 * AGE);
    for (const { grpcStatus } of await Promise.all(calls)) expect(grpcStatus).toBeUndefined();
    release();
  });

  test("is kept forever otherwise", async () => {
    const { vault, called, release } = await started({});
    const session = opened(vault, port);
    const call = rawCall(session, NOTICE, { "x-hold": "1" });
    await called;
    await pass(600 * SECOND);
    expect(session.closed).toBe(false);
    release();
    expect((await call).grpcStatus).toBe(0);
  });
});

describe("a connection of HTTP/1.1", () => {
  /** Asks on the one connection of an agent; returns whether the response ends it. */
  function isLast(agent: Agent, port: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const asked = request({ agent, port, host: "127.0.0.1", path: "/v1/notices/x" }, heard);
      function heard(response: IncomingMessage): void {
        response.resume().once("end", () => resolve(response.headers.connection === "close"));
      }
      asked.once("error", reject).end();
    });
  }

  test("ends with the first response beyond its maximum age", async () => {
    const { vault } = await started({ max_connection_age_ns: AGE * MS });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    closing.push(() => agent.destroy());
    expect(await isLast(agent, vault.http)).toBe(false);
    vi.advanceTimersByTime(YOUNG);
    expect(await isLast(agent, vault.http)).toBe(false);
    vi.advanceTimersByTime(OLD - YOUNG);
    expect(await isLast(agent, vault.http)).toBe(true);
    expect(await isLast(agent, vault.http)).toBe(false);
  });

  test("is measured from its start, not from its first request", async () => {
    const { vault } = await started({ max_connection_age_ns: AGE * MS });
    const socket = connectTcp(vault.http, "127.0.0.1");
    closing.push(() => socket.destroy());
    const emit = vi.spyOn(HttpServer.prototype, "emit");
    closing.push(() => emit.mockRestore());
    socket.write("GET /v1/notices/x HTTP/1.1\r\nHost: x\r\n");
    while (!emit.mock.calls.some(([event]: string[]) => event === "connection")) await nextTurn();
    vi.advanceTimersByTime(OLD);
    socket.write("\r\n");
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/);
  });

  test("answers all that a client has sent at once", async () => {
    const { vault, called, release } = await started({ max_connection_age_ns: AGE * MS });
    const socket = connectTcp(vault.http, "127.0.0.1");
    const held = "GET /v1/notices/x HTTP/1.1\r\nHost: x\r\nX-Hold: 1\r\n\r\n";
    socket.write(held.repeat(3));
    await called;
    vi.advanceTimersByTime(OLD);
    release();
    const text = await readAll(socket);
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
    expect(text.match(/Connection: close/g)).toHaveLength(1);
  });
});
