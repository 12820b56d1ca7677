/** The object and the decision in an event, and what the handler adds. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { AccessPolicy } from "../../../src/api/format.ts";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import type { AuditLog } from "../../../src/runtime/audit/log/audit-log.ts";
import { auditProblems } from "../../../src/runtime/audit/open-audit.ts";
import { createAuthorization } from "../../../src/runtime/authorization/authorization-stage.ts";
import type { AnyHandler } from "../../../src/runtime/binding/bound-method.ts";
import type { Call } from "../../../src/runtime/call/call.ts";
import type {
  AuditRecord,
  CallContext,
  Principal,
} from "../../../src/runtime/call/call-context.ts";
import type { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { NO_EVENTS } from "../../../src/runtime/events/runtime-events.ts";
import { engineOf, writeAll } from "../../authz/embedded/engine-of.ts";
import { SILENT, settingsOf } from "../../database/settings.ts";
import { methodOf, principalOf } from "../authorization/calls.ts";
import { serviceMethod } from "../authorization/messages.ts";
import { newCall } from "../support/call.ts";
import { openChain } from "../support/open-chain.ts";
import { auditOf } from "./audits.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-audit-"));
const database = await openDatabase<unknown>(settingsOf({ file: join(folder, "audit.db") }), {
  logger: SILENT,
});
const { audit, lines } = await auditOf(database, []);
const log = audit.log as AuditLog;
const engine = await engineOf(
  "definition user {}\ndefinition service {}\ndefinition doc { relation viewer: user\n permission view = viewer\n}",
);
await writeAll(engine, ["doc:d1#viewer@user:alice"]);

const chain = openChain({
  audit: audit.trail,
  authorization: createAuthorization({
    engine,
    enabled: true,
    devAllowAll: false,
    authnDisabled: false,
    events: NO_EVENTS,
  }),
});
afterAll(async () => {
  await audit.close();
  await database.close();
  await engine.close();
  rmSync(folder, { recursive: true });
});
let calls = 0;

async function run(
  policy: Partial<AccessPolicy>,
  handler: AnyHandler,
  of: { request?: unknown; principal?: Principal | undefined } = {},
) {
  const requestId = `call-${++calls}`;
  const method = {
    // A separate RPC, since repeated refusals are counted.
    ...methodOf({ audit: { event: "doc.write", riskLevel: "LOW" }, ...policy }, { rpc: requestId }),
    descriptor: serviceMethod("One"),
    handler,
  };
  const call = newCall({ method, requestId, readRequest: () => of.request ?? {} });
  call.principal = "principal" in of ? of.principal : principalOf();
  const code = await chain.run(call).then(
    () => "OK",
    (error: ServiceError) => error.code,
  );
  const { events } = await log.list({ requestId });
  return { code, call, events, event: events[0] };
}

const nothing = () => ({});
const authz = (id: "*" | readonly object[], audience = "user") => {
  const resource = { type: "doc", id } as NonNullable<AccessPolicy["authz"]>["resource"];
  return {
    exposure: "AUTHORIZED",
    authz: { action: "view", audience, resource, mode: "CHECK_ONLY" },
  } as const;
};
const literal = (text: string) => [{ kind: "literal", text }] as const;

describe("an event has the decision for", () => {
  const revision = expect.stringMatching(/./);
  test.each<[string, Partial<AccessPolicy>, Principal, object]>([
    [
      "an allowed call",
      authz(literal("d1")),
      principalOf(),
      { subject: "user:alice", action: "view", resource: "doc:d1", revision, decision: "allowed" },
    ],
    [
      "a denied call",
      authz(literal("d2")),
      principalOf(),
      { subject: "user:alice", action: "view", resource: "doc:d2", revision, decision: "denied" },
    ],
    [
      "any object",
      authz("*"),
      principalOf({ subjectId: "bob" }),
      { subject: "user:bob", action: "view", resource: "doc:*", revision, decision: "denied" },
    ],
    [
      "a caller of another type",
      authz(literal("d1")),
      principalOf({ subjectType: "service", subjectId: "hub" }),
      {
        subject: "service:hub",
        action: "view",
        resource: "doc:d1",
        audience: "user",
        decision: "denied",
      },
    ],
    [
      "a caller that lacks the claim of the pattern",
      authz([{ kind: "principal", field: "organization_id" }]),
      principalOf({ organizationId: "" }),
      {
        subject: "user:alice",
        action: "view",
        resource: "doc:{principal.organization_id}",
        decision: "denied",
      },
    ],
  ])("%s", async (_, policy, principal, decided) => {
    const { event } = await run(policy, nothing, { principal });
    expect(event?.data.authz).toEqual(decided);
  });

  test("and no decision if none was made", async () => {
    const { event } = await run({ exposure: "AUTHENTICATED" }, nothing);
    expect(event?.data.authz).toBeUndefined();
  });
});

test("a handler cannot continue without an event that must be stored", async () => {
  const rename = (from: string, to: string) =>
    database.kysely.schema.alterTable(from).renameTo(to).execute();
  const event = { event: "doc.given_away", mustBeStored: true };
  const record: AnyHandler = async (_: unknown, { audit }: CallContext) => {
    await audit.record(event);
    return {};
  };
  await rename("audit_events", "locked");
  const read = { audit: undefined as never, exposure: "AUTHENTICATED" } as const;
  const refused = newCall({
    method: { ...methodOf(read), descriptor: serviceMethod("One"), handler: record },
    readRequest: () => ({}),
  });
  refused.principal = principalOf();
  await expect(chain.run(refused)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await rename("locked", "audit_events");
  expect((await run({ exposure: "AUTHENTICATED" }, record)).code).toBe("OK");
  expect((await log.list({ type: "doc.given_away" })).events).toHaveLength(1);
});

describe("an event of an RPC that is not AUTHORIZED names its object [ANNO-15]", () => {
  const audited = (id: "*" | readonly object[]) => ({
    exposure: "AUTHENTICATED" as const,
    audit: {
      event: "session.end",
      riskLevel: "LOW" as const,
      resource: { type: "session", id } as NonNullable<AccessPolicy["audit"]>["resource"] & object,
    },
  });
  const field = [{ kind: "field", path: "id" }];
  test.each<[string, Partial<AccessPolicy>, unknown, Principal | undefined, string | undefined]>([
    ["by a field", audited(field), { id: "s1" }, principalOf(), "session:s1"],
    ["by a literal", audited(literal("all")), {}, principalOf(), "session:all"],
    ["by its type", audited("*"), {}, principalOf(), "session:*"],
    [
      "by the caller",
      audited([{ kind: "principal", field: "subject_id" }]),
      {},
      principalOf(),
      "session:alice",
    ],
    ["but not by an absent field", audited(field), { id: "" }, principalOf(), undefined],
    [
      "but not by a value that is not an id",
      audited(field),
      { id: "a b" },
      principalOf(),
      undefined,
    ],
  ])("%s", async (_, policy, request, principal, object) => {
    const { code, event } = await run(policy, nothing, { request, principal });
    expect(code).toBe("OK");
    expect(event?.data.resource).toBe(object);
    expect(event?.subject).toBe(object);
    if (object === undefined) return;
    const { events } = await log.list({
      resource: object,
      requestId: event?.data.request_id ?? "",
    });
    expect(events).toHaveLength(1);
  });

  test("as the handler received the request", async () => {
    const change = (request: { id: string }) => {
      request.id = "other";
      return {};
    };
    const { event } = await run(audited(field), change, { request: { id: "s1" } });
    expect(event?.subject).toBe("session:s1");
  });

  test("even if it is refused before its handler", async () => {
    const policy = { ...audited(field), exposure: "INTERNAL" as const };
    const { code, event } = await run(policy, nothing, { request: { id: "s1" } });
    expect(code).toBe("FORBIDDEN");
    expect(event?.data).toMatchObject({ resource: "session:s1", decision: "denied" });
  });

  test("a pattern that can never name an object prevents the server from starting", () => {
    const method = {
      ...methodOf(audited([{ kind: "field", path: "nothing" }])),
      descriptor: serviceMethod("One"),
    };
    expect(auditProblems([method], {})).toEqual([
      expect.stringContaining('could never name their object: "nothing" is not a field'),
    ]);
  });
});

describe("a handler [AUDIT-5]", () => {
  test("names the object that it created; the authorized object stays", async () => {
    const { event } = await run(authz(literal("d1")), (_, { audit: own }: CallContext) => {
      own.setResource("doc:new");
      return {};
    });
    expect(event?.subject).toBe("doc:new");
    expect(event?.data.resource).toBe("doc:new");
    expect(event?.data.authz?.resource).toBe("doc:d1");
    const { events } = await log.list({ resource: "doc:new" });
    expect(events.map(({ id }) => id)).toEqual([event?.id]);
  });

  test.each([
    "",
    "doc",
    "doc:",
    ":x",
    "Doc:x",
    "doc:a b",
    "doc:*",
    "doc:a#b",
    `doc:${"x".repeat(257)}`,
    7,
  ])("cannot name %j", async (resource) => {
    const { call } = await run({}, nothing);
    expect(() => call.audit.setResource(resource as string)).toThrow(TypeError);
  });

  test("gets an error if it names the object too late", async () => {
    const { call } = await run({}, nothing);
    expect(() => call.audit.setResource("doc:x")).toThrow("its audit event is complete");
  });

  test("records further events, linked to the call, without secrets", async () => {
    const record: AuditRecord = {
      event: "session.revoke",
      riskLevel: "HIGH",
      resource: "session:s1",
      details: {
        sessions: 3,
        forced: true,
        reason: "Authorization: Bearer abcdef123456.t0ps3cret",
        password: "t0ps3cret",
        refresh_token: "t0ps3cret",
      },
    };
    const { events } = await run({}, async (_, context: CallContext) => {
      await context.audit.record(record);
      return {};
    });
    const own = events.find(({ type }) => type === "session.revoke");
    const call = events.find(({ type }) => type === "doc.write");
    expect(own).toMatchObject({
      subject: "session:s1",
      data: {
        state: "completed",
        risk_level: "HIGH",
        resource: "session:s1",
        principal: { id: "alice" },
        call_event: call?.id,
        details: { sessions: 3, forced: true, password: "***", refresh_token: "***" },
      },
    });
    expect(JSON.stringify([events, lines])).not.toContain("t0ps3cret");
  });

  test.each<[string, object]>([
    ["no name", {}],
    ["one word", { event: "revoke" }],
    ["capitals", { event: "Session.revoke" }],
    ["too long a name", { event: `a.${"b".repeat(127)}` }],
    ["an unknown risk", { event: "a.b", riskLevel: "SEVERE" }],
    ["an object without a type", { event: "a.b", resource: "s1" }],
    ["an unknown field", { event: "a.b", secret: "x" }],
    ["nested details", { event: "a.b", details: { of: {} } }],
    ["NaN", { event: "a.b", details: { of: Number.NaN } }],
    ["a list of details", { event: "a.b", details: ["x"] }],
    ["an odd name", { event: "a.b", details: { "a b": 1 } }],
    [
      "too many details",
      {
        event: "a.b",
        details: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`a${i}`, 1])),
      },
    ],
  ])("cannot record an event with %s", async (_, record) => {
    let call: Call | undefined;
    await run({}, (_, context: Call) => {
      call = context;
      return {};
    });
    await expect(call?.audit.record(record as AuditRecord)).rejects.toThrow(TypeError);
  });

  test("records at most 100 events of a call", async () => {
    const { call } = await run({}, nothing);
    for (let count = 0; count < 100; count++) await call.audit.record({ event: "a.b" });
    await expect(call.audit.record({ event: "a.b" })).rejects.toThrow(RangeError);
  });

  test("records events after the call, whose own event is complete", async () => {
    const { call } = await run({}, nothing);
    expect(() => call.audit.setResource("doc:x")).toThrow("is complete");
    await call.audit.record({ event: "late.work" });
    expect(lines.find(({ type }) => type === "late.work")?.data).toMatchObject({
      call_event: lines.findLast(({ type }) => type === "doc.write")?.id,
      request_id: call.requestId,
    });
  });

  test("gets an error for an event that could not be stored, once the server has ended", async () => {
    const own = await openDatabase<unknown>(settingsOf({ file: join(folder, "ended.db") }), {
      logger: SILENT,
    });
    const ended = await auditOf(own, []);
    const call = newCall();
    call.auditOf = ended.audit.trail.auditOf;
    await call.audit.record({ event: "in.time" });
    await ended.audit.close();
    await own.close();
    await expect(call.audit.record({ event: "too.late" })).rejects.toThrow("the server has ended");
    expect(ended.lines.map(({ type }) => type)).toEqual(["in.time"]);
  });

  test("gets an error if there is no database", async () => {
    await expect(newCall().audit.record({ event: "a.b" })).rejects.toThrow("configure database");
  });
});
