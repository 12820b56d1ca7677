import { expect, test } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import type { AuditFilter } from "../../../src/runtime/audit/log/audit-filter.ts";
import { type AuditLog, StoredAuditLog } from "../../../src/runtime/audit/log/audit-log.ts";
import { openAudit } from "../../../src/runtime/audit/open-audit.ts";
import { keepFor, removeBefore } from "../../../src/runtime/audit/retention/retention.ts";
import type { AuditTables } from "../../../src/runtime/audit/tables/audit-table.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { callOf, methodOf, principalOf } from "../authorization/calls.ts";
import { auditOf, logOf } from "./audits.ts";

const write = methodOf(
  { audit: { event: "doc.write", riskLevel: "HIGH" } },
  { rpc: "a.v1.S/Write", isWrite: true },
);
const read = methodOf(
  { audit: { event: "doc.read", riskLevel: "LOW" } },
  { rpc: "a.v1.S/Read", isWrite: false },
);

/** Tests for the audit of a service in any database. */
export function auditLogContract(fresh: () => Promise<Database<unknown>>): void {
  const opened = async () => {
    const database = await fresh();
    const { audit, lines } = await auditOf(database, [write, read]);
    return { database, audit, log: audit.log as AuditLog, lines };
  };

  test("a write is pending, then completed, as one event", async () => {
    const { audit, log, lines } = await opened();
    const call = callOf(write, { principal: principalOf(), requestId: "r-1" });
    call.resource = "doc:d1";
    call.decision = "allowed";
    call.traceId = "0af7651916cd43dd8448eb211c80319c";
    call.spanId = "b7ad6b7169203331";
    await audit.trail.begin(call);
    const [pending] = (await log.list()).events;
    expect(pending?.data).toMatchObject({ state: "pending", decision: "allowed" });
    expect(pending?.data.code).toBeUndefined();
    expect(lines).toEqual([]);
    await audit.trail.complete(call, undefined);
    const { events } = await log.list();
    expect(events).toEqual([
      {
        specversion: "1.0",
        id: pending?.id,
        source: "/svc/hub",
        type: "doc.write",
        subject: "doc:d1",
        time: pending?.time,
        datacontenttype: "application/json",
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
        data: {
          state: "completed",
          risk_level: "HIGH",
          principal: { type: "user", id: "alice", source: "jwt", organization: "acme" },
          rpc: "a.v1.S/Write",
          transport: "http",
          resource: "doc:d1",
          decision: "allowed",
          status: 200,
          code: "OK",
          duration_ms: expect.any(Number),
          request_id: "r-1",
          trace_id: "0af7651916cd43dd8448eb211c80319c",
          client_address: "192.0.2.7",
          peer_address: "10.0.0.1",
          instance: "replica-1",
        },
      },
    ]);
    expect(lines).toEqual(events);
    await audit.close();
  });

  test("a read, and a denied write, are one event without an intent", async () => {
    const { audit, log } = await opened();
    const call = callOf(read, { principal: principalOf() });
    await audit.trail.begin(call);
    expect((await log.list()).events).toEqual([]);
    await audit.trail.complete(call, undefined);
    const denied = callOf(write, {});
    denied.decision = "denied";
    await audit.trail.complete(denied, new ServiceError("FORBIDDEN"));
    const { events } = await log.list({ decision: "denied" });
    expect(events).toHaveLength(1);
    expect(events[0]?.data).toMatchObject({ state: "completed", status: 403, code: "FORBIDDEN" });
    expect(events[0]?.data.principal).toBeUndefined();
    expect((await log.list()).events).toHaveLength(2);
    await audit.close();
  });

  test("a call that ended early stays ended, even if its intent is stored later", async () => {
    const { audit, log } = await opened();
    const late = new ServiceError("DEADLINE_EXCEEDED");
    const inFlight = callOf(write);
    const begun = audit.trail.begin(inFlight);
    await audit.trail.complete(inFlight, late);
    await begun;
    const overtaken = callOf(write);
    overtaken.abort(late);
    await audit.trail.complete(overtaken, late);
    await audit.trail.complete(overtaken, undefined);
    expect(() => audit.trail.begin(overtaken)).toThrow(late);
    const { events } = await log.list();
    expect(events.map(({ data }) => data.code)).toEqual(["DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED"]);
    await audit.close();
  });

  test("an intent without an outcome becomes unknown after its time limit", async () => {
    const { database, audit, log } = await opened();
    const call = callOf(write, { principal: principalOf() });
    call.deadline = Date.now() + 60_000;
    await audit.trail.begin(call);
    const at = (time: number) => new StoredAuditLog(database.as<AuditTables>(), () => time);
    const states = async (of: AuditLog) => {
      const found: string[] = [];
      for (const state of ["pending", "completed", "unknown"] as const) {
        for (const { data } of (await of.list({ state })).events)
          found.push(`${state} ${data.state}`);
      }
      return found;
    };
    expect(await states(log)).toEqual(["pending pending"]);
    // The outcome of a call whose deadline has passed may need a moment.
    expect(await states(at(call.deadline + 9_999))).toEqual(["pending pending"]);
    const later = at(call.deadline + 10_000);
    expect(await states(later)).toEqual(["unknown unknown"]);
    const [pending] = (await log.list()).events;
    expect((await later.list()).events).toEqual([
      { ...pending, data: { ...pending?.data, state: "unknown" } },
    ]);
    // Its outcome may still arrive, such as after a long outage.
    await audit.trail.complete(call, undefined);
    expect((await later.list()).events[0]?.data.state).toBe("completed");
    await audit.close();
  });

  test("hostile text is stored as harmless text", async () => {
    const { audit, log, lines } = await opened();
    const subjectId = `eve\0\n\u001b[31m\ud800'; drop table audit_events; --${"x".repeat(5000)}`;
    const principal = principalOf({ subjectId, organizationId: "💥".repeat(300) });
    const headers = { authorization: "Bearer t0ps3cret", cookie: "session=t0ps3cret" };
    const call = callOf(write, { principal, headers, request: { password: "t0ps3cret" } });
    call.resource = "doc:\u0000";
    const error = ServiceError.of(418, "TEAPOT", "t0ps3cret", { details: { token: "t0ps3cret" } });
    await audit.trail.begin(call);
    await audit.trail.complete(call, error);
    const { events } = await log.list();
    expect(events[0]?.data).toMatchObject({ code: "TEAPOT", status: 418, resource: "doc:\\u0000" });
    const id = events[0]?.data.principal?.id ?? "";
    expect(id).toHaveLength(512);
    expect(id.startsWith("eve\\u0000\\u000a\\u001b[31m\\ud800'; drop table")).toBe(true);
    expect(JSON.stringify([events, lines])).not.toContain("t0ps3cret");
    expect((await log.list({ principalId: id })).events).toHaveLength(1);
    await audit.close();
  });

  test("is listed newest first, by filter, in pages that contain each event once", async () => {
    const { audit, log } = await opened();
    const calls = Array.from({ length: 60 }, (_, index) => {
      const method = index % 2 === 0 ? write : read;
      const principal = principalOf({ subjectId: `u${index % 3}` });
      const call = callOf(method, { principal, requestId: `r${index}` });
      call.resource = `doc:${index % 5}`;
      return call;
    });
    await Promise.all(calls.map((call) => audit.trail.complete(call, undefined)));
    const ids = async (filter: AuditFilter, pageSize: number) => {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await log.list(filter, {
          pageSize,
          ...(cursor === undefined ? {} : { cursor }),
        });
        found.push(...page.events.map(({ data }) => data.request_id));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return found;
    };
    for (const pageSize of [1, 7, 60, 500]) {
      expect(new Set(await ids({}, pageSize)).size).toBe(60);
      expect(await ids({ principalId: "u1", principalType: "user" }, pageSize)).toHaveLength(20);
      expect(await ids({ rpc: "a.v1.S/Read", resource: "doc:1" }, pageSize)).toHaveLength(6);
    }
    const { events } = await log.list({}, { pageSize: 500 });
    const keys = events.map(({ time, id }) => `${time} ${id}`);
    expect(keys).toEqual([...keys].sort().reverse());
    const { length } = events.filter(({ data }) => data.risk_level === "LOW");
    expect(await ids({ riskLevel: "LOW", type: "doc.read", code: "OK" }, 50)).toHaveLength(length);
    const to = Date.parse(events[30]?.time ?? "");
    const before = events.filter(({ time }) => Date.parse(time) < to);
    expect(await ids({ to }, 50)).toHaveLength(before.length);
    expect(await ids({ from: to }, 50)).toHaveLength(60 - before.length);
    expect(await ids({ requestId: "r7" }, 50)).toEqual(["r7"]);
    for (const none of [{ organization: "other" }, { traceId: "0" }, { type: "doc" }]) {
      expect(await ids(none, 50)).toEqual([]);
    }
    // The default page size is 50.
    expect((await log.list()).events).toHaveLength(50);
    await audit.close();
  });

  test("is found by the value of each filter field, and not by another value", async () => {
    const { audit, log } = await opened();
    const principal = principalOf({ subjectType: "service", organizationId: "acme" });
    const call = callOf(write, { principal, requestId: "r-1" });
    call.resource = "doc:d1";
    call.decision = "allowed";
    call.traceId = "0af7651916cd43dd8448eb211c80319c";
    await audit.trail.complete(call, undefined);
    const [event] = (await log.list()).events;
    const time = Date.parse(event?.time ?? "");
    const found: [AuditFilter, AuditFilter][] = [
      [{ from: time }, { from: time + 1 }],
      [{ to: time + 1 }, { to: time }],
      [{ type: "doc.write" }, { type: "doc.read" }],
      [{ rpc: "a.v1.S/Write" }, { rpc: "a.v1.S/Read" }],
      [{ principalType: "service" }, { principalType: "user" }],
      [{ principalId: "alice" }, { principalId: "bob" }],
      [{ organization: "acme" }, { organization: "" }],
      [{ resource: "doc:d1" }, { resource: "doc:d2" }],
      [{ decision: "allowed" }, { decision: "none" }],
      [{ state: "completed" }, { state: "pending" }],
      [{ riskLevel: "HIGH" }, { riskLevel: "CRITICAL" }],
      [{ code: "OK" }, { code: "FORBIDDEN" }],
      [{ requestId: "r-1" }, { requestId: "r-2" }],
      [{ traceId: call.traceId }, { traceId: "b7ad6b7169203331" }],
    ];
    for (const [filter, other] of found) {
      expect((await log.list(filter)).events, JSON.stringify(filter)).toEqual([event]);
      expect((await log.list(other)).events, JSON.stringify(other)).toEqual([]);
    }
    await audit.close();
  });

  test("only old events are removed", async () => {
    const { database, audit, log } = await opened();
    for (let count = 0; count < 1200; count++) void audit.trail.complete(callOf(read), undefined);
    await audit.trail.complete(callOf(read), undefined);
    const tables = database.as<AuditTables>();
    await tables.kysely.updateTable("audit_events").set({ time: 1 }).execute();
    await audit.trail.complete(callOf(write), undefined);
    expect(await removeBefore(tables, 1000)).toBe(1201);
    expect((await log.list()).events).toHaveLength(1);
    await audit.close();
  });

  test("a running removal ends when the server closes, before the database is closed", async () => {
    const { database, audit, log } = await opened();
    for (let count = 0; count < 3000; count++) void audit.trail.complete(callOf(read), undefined);
    await audit.trail.complete(callOf(read), undefined);
    const tables = database.as<AuditTables>();
    await tables.kysely.updateTable("audit_events").set({ time: 1 }).execute();
    const warnings: string[] = [];
    const warn = (_: object, message: string) => void warnings.push(message);
    const stop = keepFor(1, tables, { debug() {}, info() {}, warn, error: warn });
    await stop();
    const removedLater = await removeBefore(tables, 1000);
    // One statement was running, and none followed.
    expect(removedLater).toBeGreaterThan(2000);
    expect(warnings).toEqual([]);
    expect((await log.list()).events).toEqual([]);
    await audit.close();
  });

  test("at the start, exactly the events beyond their retention are removed", async () => {
    const { database, audit, log } = await opened();
    const tables = database.as<AuditTables>();
    const hours = [0, 1, 3, 5, 100];
    for (const hour of hours) {
      await audit.trail.complete(callOf(read, { requestId: `${hour}` }), undefined);
      const time = Date.now() - hour * 3_600_000;
      const query = tables.kysely.updateTable("audit_events").where("request_id", "=", `${hour}`);
      await query.set({ time }).execute();
    }
    await audit.close();
    const options = { methods: [write], database, service: "hub", maxAgeMs: 4 * 3_600_000 };
    const again = await openAudit({ ...logOf([]), ...options });
    const kept = async () => (await log.list()).events.map(({ data }) => data.request_id);
    await expect.poll(kept, { message: "the expired events are removed" }).toEqual(["0", "1", "3"]);
    // It does not do so continuously.
    const old = tables.kysely.updateTable("audit_events").where("request_id", "=", "3");
    await old.set({ time: 1 }).execute();
    await again.trail.complete(callOf(read, { requestId: "later" }), undefined);
    await expect
      .poll(kept, { message: "the next event is stored" })
      .toEqual(["later", "0", "1", "3"]);
    await again.close();
  });

  test("closing stores pending events", async () => {
    const { audit, log } = await opened();
    const completed = audit.trail.complete(callOf(read), undefined);
    await audit.close();
    expect((await log.list()).events).toHaveLength(1);
    await completed;
  });
}
