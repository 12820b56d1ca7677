import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, expect, test } from "vitest";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import type { AuditLog } from "../../../src/runtime/audit/log/audit-log.ts";
import { createAuthorization } from "../../../src/runtime/authorization/authorization-stage.ts";
import type { AnyHandler, BoundMethod } from "../../../src/runtime/binding/bound-method.ts";
import { ServerChain } from "../../../src/runtime/chain/server-chain.ts";
import { missingPrincipal, ServiceError } from "../../../src/runtime/error/service-error.ts";
import { NO_EVENTS } from "../../../src/runtime/events/runtime-events.ts";
import { createRateLimiter } from "../../../src/runtime/rate-limit/rate-limiter.ts";
import { engineOf, writeAll } from "../../authz/embedded/engine-of.ts";
import { SILENT, settingsOf } from "../../database/settings.ts";
import { methodOf, principalOf } from "../authorization/calls.ts";
import { newCall, sentHeaders } from "../support/call.ts";
import { auditOf } from "./audits.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-audit-"));
const database = await openDatabase<unknown>(settingsOf({ file: join(folder, "audit.db") }), {
  logger: SILENT,
});
const engine = await engineOf(
  "definition user {}\ndefinition doc { relation viewer: user\n permission view = viewer\n}",
);
await writeAll(engine, ["doc:d1#viewer@user:alice"]);
const { audit } = await auditOf(database, []);
const log = audit.log as AuditLog;
afterAll(async () => {
  await audit.close();
  await database.close();
  await engine.close();
  rmSync(folder, { recursive: true });
});

const stages = {
  before: [],
  contextInjection() {},
  requestInfo() {},
  metadata() {},
  authentication: (call) => {
    const [id] = call.headers.all("user");
    if (id === undefined) throw missingPrincipal();
    call.principal = principalOf({ subjectId: id });
  },
  rateLimit: createRateLimiter({ events: NO_EVENTS }),
  authorization: createAuthorization({
    engine,
    enabled: true,
    devAllowAll: false,
    authnDisabled: false,
    events: NO_EVENTS,
  }),
  audit: audit.trail,
  admission: [],
  after: () => [],
  observers: [],
} satisfies Omit<ConstructorParameters<typeof ServerChain>[0], "timeoutMs">;
/** A second chain serves only the call that never ends, so that a slow machine makes no other call late. */
const chain = new ServerChain({ ...stages, timeoutMs: { unary: 60_000, stream: 60_000 } });
const briefChain = new ServerChain({ ...stages, timeoutMs: { unary: 5000, stream: 5000 } });

let calls = 0;
const handled: string[] = [];

function method(handler: AnyHandler, qps = 1000): BoundMethod {
  const authz = {
    action: "view",
    audience: "user",
    resource: { type: "doc", id: [{ kind: "literal", text: "d1" }] },
    mode: "CHECK_ONLY",
  } as const;
  const base = methodOf({
    exposure: "AUTHORIZED",
    authz,
    audit: { event: "doc.write", riskLevel: "HIGH" },
    rateLimit: { qps, burst: qps },
  });
  return { ...base, handler };
}

const works = method((_, call) => {
  handled.push(call.requestId);
  return {};
});
const fails = method(() => Promise.reject(new TypeError("t0ps3cret")));
const refuses = method(() => Promise.reject(new ServiceError("RESOURCE_NOT_FOUND")));
const hangs = method(() => new Promise(() => undefined));
const once = method(() => ({}), 1);

async function run(of: BoundMethod, user?: string, readRequest: () => unknown = () => ({})) {
  const requestId = `call-${++calls}`;
  const call = newCall({
    method: of,
    transport: "grpc",
    requestId,
    headers: sentHeaders(user === undefined ? [] : [["user", user]]),
    httpMethod: "POST",
    readRequest,
  });
  const code = await (of === hangs ? briefChain : chain).run(call).then(
    () => "OK",
    (error: ServiceError) => error.code,
  );
  const { events } = await log.list({ requestId });
  return {
    requestId,
    code,
    events: events.map(({ data }) => `${data.decision} ${data.code ?? data.state}`),
  };
}

const malformed = () => {
  throw new ServiceError("INVALID_ARGUMENT");
};

test.each<[string, BoundMethod, string | undefined, string, string[], (() => unknown)?]>([
  [
    "an unidentified caller is refused before the audit stage",
    works,
    undefined,
    "UNAUTHORIZED",
    [],
  ],
  ["a denied call", works, "bob", "FORBIDDEN", ["denied FORBIDDEN"]],
  ["a malformed request", works, "alice", "INVALID_ARGUMENT", ["none INVALID_ARGUMENT"], malformed],
  ["a call that is served", works, "alice", "OK", ["allowed OK"]],
  ["a defect of the handler", fails, "alice", "INTERNAL", ["allowed INTERNAL"]],
  [
    "a refusal of the handler",
    refuses,
    "alice",
    "RESOURCE_NOT_FOUND",
    ["allowed RESOURCE_NOT_FOUND"],
  ],
  ["a handler that takes too long", hangs, "alice", "DEADLINE_EXCEEDED", ["allowed pending"]],
])("%s", async (_, of, user, code, events, readRequest) => {
  expect(await run(of, user, readRequest)).toMatchObject({ code, events });
});

test("a call beyond the rate limit is refused before the audit stage [AUDIT-1]", async () => {
  expect(await run(once, "alice")).toMatchObject({ code: "OK", events: ["allowed OK"] });
  expect(await run(once, "alice")).toMatchObject({ code: "RATE_LIMITED", events: [] });
});

test("a write whose intent cannot be stored does not happen [AUDIT-2]", async () => {
  await sql`alter table audit_events rename to hidden`.execute(database.kysely);
  handled.length = 0;
  // The log cannot be read either; the outcome of the call shows below.
  await expect(run(works, "alice")).rejects.toMatchObject({
    code: "UNAVAILABLE",
    cause: expect.any(Error),
  });
  expect(handled).toEqual([]);
  await sql`alter table hidden rename to audit_events`.execute(database.kysely);
  await expect
    .poll(async () => (await log.list({ code: "UNAVAILABLE" })).events.length, {
      message: "the refused write is audited",
    })
    .toBe(1);
  expect(await run(works, "alice")).toMatchObject({ code: "OK" });
});
