/** Calls past their deadline, or whose caller has cancelled: all work for them is cancelled, and no late response is sent. */
import { request } from "node:http";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AuthzError } from "../../../src/authz/engine/authz-error.ts";
import type { AuthorizationEngine } from "../../../src/authz/engine/engine.ts";
import type { AuditData } from "../../../src/runtime/audit/event/audit-event.ts";
import { createGrpcClient, createHttpClient } from "../../../src/runtime/index.ts";
import { VaultService } from "../fixture/gen/acme/vault/v1/vault_pb.ts";
import { bindVaultService, VaultServiceRoutes } from "../fixture/gen/acme/vault/v1/vault_server.ts";
import { type RunningVault, shareDocument, startVault } from "../support/vault-server.ts";
import { storedEvents } from "./support/audited.ts";
import { grpcCaller, httpCaller, noticeOf, type Request, requestOf } from "./support/calls.ts";
import { faultHandlers } from "./support/fault-handlers.ts";
import { until } from "./support/until.ts";

/** The timeout of calls, in nanoseconds. */
const TIMEOUT = 300_000_000;
/** Longer than the timeout, in milliseconds. */
const LATE = 700;

const { handlers, seen } = faultHandlers();
const backend = faultHandlers();
let vault: RunningVault;
let back: RunningVault;
let checks: string[];
let isEngineSlow = false;

beforeAll(async () => {
  back = await startVault({ bindings: [bindVaultService(backend.handlers)] });
  const clients = {
    grpc: createGrpcClient(VaultService, { target: `127.0.0.1:${back.grpc}` }),
    http: createHttpClient(VaultService, VaultServiceRoutes, {
      baseUrl: `http://127.0.0.1:${back.http}`,
    }),
  };
  checks = [];
  const own = await startVault();
  vault = await startVault({
    engine: slowEngine(own.engine),
    bindings: [
      bindVaultService({
        ...handlers,
        async getNotice(notice, context) {
          const [what, by] = notice.noticeId.split("-");
          if (what !== "via") return handlers.getNotice(notice, context);
          return clients[by as "grpc" | "http"].getNotice({ noticeId: "wait" }, { context });
        },
      }),
    ],
    config: {
      server: {
        http: { address: "127.0.0.1:0", timeout_ns: TIMEOUT },
        grpc: { address: "127.0.0.1:0", timeout_ns: TIMEOUT },
      },
    },
  });
  await shareDocument(vault.engine);
  afterThat.push(
    () => clients.grpc.close(),
    () => clients.http.close(),
    () => vault.stop(),
    () => own.stop(),
    () => back.stop(),
  );
});
const afterThat: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of afterThat) await close();
});

test("a call whose handler ignores its signal gets 504, and the late result is dropped [CHAIN-2]", async () => {
  const statuses = await bothOf(noticeOf(`sleep-${LATE}`));
  expect(statuses).toEqual([504, 504]);
  expect(seen.finished).not.toContain(`sleep-${LATE}`);
  await until("the handlers are done", () => {
    return seen.finished.filter((id) => id === `sleep-${LATE}`).length === 2;
  });
  // On the same connections.
  expect(await bothOf(noticeOf("n"))).toEqual([200, 200]);
});

test("handlers are notified of the deadline [CHAIN-2]", async () => {
  seen.aborts.length = 0;
  expect(await bothOf(noticeOf("wait"))).toEqual([504, 504]);
  expect(seen.aborts).toEqual(["DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED"]);
});

test("the deadline of a gRPC client applies if it is shorter", async () => {
  const client = new Client(`127.0.0.1:${vault.grpc}`, credentials.createInsecure());
  seen.aborts.length = 0;
  const call = (deadline: number) =>
    new Promise<number>((resolve) => {
      const { rpc, message } = noticeOf("wait");
      client.makeUnaryRequest(
        rpc,
        (data: Uint8Array) => Buffer.from(data),
        (data: Buffer) => data,
        message,
        new Metadata(),
        { deadline },
        (error) => resolve(error?.code ?? 0),
      );
    });
  // Until one reaches its handler in time, however slow the machine is.
  const begun = seen.waiting;
  for (let ms = 100; seen.waiting === begun; ms *= 2) expect(await call(Date.now() + ms)).toBe(4);
  client.close();
  await until("the handler has heard", () => seen.aborts.length === 1);
  expect(["DEADLINE_EXCEEDED", "CANCELLED"]).toContain(seen.aborts[0]);
});

test("calls that a handler makes with clients end with its call", async () => {
  const { seen } = backend;
  seen.aborts.length = 0;
  const before = seen.waiting;
  for (const by of ["grpc", "http"]) {
    // On a slow machine the deadline may pass before the called service has the call.
    const begun = seen.waiting;
    do expect(await bothOf(noticeOf(`via-${by}`))).toEqual([504, 504]);
    while (seen.waiting === begun);
  }
  await until("the called service has heard of each call that it had", () => {
    return seen.aborts.length === seen.waiting - before;
  });
  for (const code of seen.aborts) expect(["DEADLINE_EXCEEDED", "CANCELLED"]).toContain(code);
});

test("the engine is cancelled, and there is no decision", async () => {
  isEngineSlow = true;
  expect(await bothOf(requestOf("allowed", ""))).toEqual([504, 504]);
  expect(await bothOf(requestOf("denied", ""))).toEqual([504, 504]);
  isEngineSlow = false;
  expect(checks).toEqual(new Array(4).fill("DEADLINE_EXCEEDED"));
});

test("the audit event has the outcome of the handler after the deadline, and the response to the caller", async () => {
  const slow = requestOf("write", `sleep ${LATE}`);
  expect(await bothOf(slow, "late")).toEqual([504, 504]);
  for (const transport of ["http", "grpc"]) {
    let data: AuditData | undefined;
    await until("the handler is done", async () => {
      const found = (await storedEvents(vault.server)).get(`late-${transport}`);
      expect(found).toHaveLength(1);
      data = found?.[0]?.data;
      return data?.state === "completed";
    });
    expect(data).toMatchObject({
      code: "OK",
      status: 200,
      answered: { status: 504, code: "DEADLINE_EXCEEDED" },
      decision: "allowed",
    });
  }
});

test("a caller that disconnects cancels the work for its call", async () => {
  // On the server with a long timeout, so that the callers disconnect before any deadline.
  backend.seen.aborts.length = 0;
  backend.seen.waiting = 0;
  const outgoing = request({ port: back.http, host: "127.0.0.1", path: "/v1/notices/wait" });
  outgoing.on("error", () => undefined);
  outgoing.end();
  const client = new Client(`127.0.0.1:${back.grpc}`, credentials.createInsecure());
  const { rpc, message } = noticeOf("wait");
  const call = client.makeUnaryRequest(
    rpc,
    (data: Uint8Array) => Buffer.from(data),
    (data: Buffer) => data,
    message,
    () => undefined,
  );
  await until("the handlers have begun", () => backend.seen.waiting === 2);
  outgoing.destroy();
  call.cancel();
  await until("the handlers have heard", () => backend.seen.aborts.length === 2);
  expect(backend.seen.aborts).toEqual(["CANCELLED", "CANCELLED"]);
  client.close();
});

/** The statuses over HTTP and gRPC. */
async function bothOf(request: Request, requestId = "one"): Promise<number[]> {
  const callers = { http: httpCaller(vault.http), grpc: grpcCaller(vault.grpc) };
  const statuses = await Promise.all([
    callers.http.call(request, `${requestId}-http`),
    callers.grpc.call(request, `${requestId}-grpc`),
  ]);
  for (const { close } of Object.values(callers)) close();
  return statuses;
}

/** An engine that, while it is slow, does not answer before its signal aborts. */
function slowEngine(engine: AuthorizationEngine): AuthorizationEngine {
  const check: AuthorizationEngine["check"] = (request, options) => {
    if (!isEngineSlow) return engine.check(request, options);
    return new Promise((_, reject) => {
      options?.signal?.addEventListener("abort", () => {
        checks.push((options.signal?.reason as { code: string }).code);
        reject(new AuthzError("DEADLINE_EXCEEDED", "the caller waits no more"));
      });
    });
  };
  const writeRelationships: AuthorizationEngine["writeRelationships"] = (request, options) =>
    engine.writeRelationships(request, options);
  return Object.assign(Object.create(engine) as AuthorizationEngine, {
    // A remote engine, which gets a signal.
    kind: "spicedb" as const,
    checkNow: undefined,
    check,
    writeRelationships,
    ready: () => engine.ready(),
    close: async () => undefined,
  });
}
