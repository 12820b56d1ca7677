import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../../../src/database/service/open-database.ts";
import { type AuditFilter, filterHash } from "../../../../src/runtime/audit/log/audit-filter.ts";
import type { AuditLog } from "../../../../src/runtime/audit/log/audit-log.ts";
import { formatCursor } from "../../../../src/runtime/audit/log/audit-position.ts";
import { auditProblems, openAudit } from "../../../../src/runtime/audit/open-audit.ts";
import { SILENT, settingsOf } from "../../../database/settings.ts";
import { callOf, methodOf } from "../../authorization/calls.ts";
import { auditOf, logOf } from "../audits.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-audit-"));
const settings = settingsOf({ file: join(folder, "audit.db") });
const database = await openDatabase<unknown>(settings, { logger: SILENT });
const method = methodOf({ audit: { event: "doc.write", riskLevel: "HIGH" } });
const { audit } = await auditOf(database, [method]);
const log = audit.log as AuditLog;
for (let count = 0; count < 5; count++) await audit.trail.complete(callOf(method), undefined);
const first = await log.list({ type: "doc.write" }, { pageSize: 2 });
const cursor = first.nextCursor as string;
const ID = "00000000-0000-7000-8000-000000000000";
afterAll(async () => {
  await audit.close();
  await database.close();
  rmSync(folder, { recursive: true });
});

test.each<[string, object]>([
  ["NaN as a time", { from: Number.NaN }],
  ["a time before the epoch", { to: -1 }],
  ["half a millisecond", { from: 0.5 }],
  ["a time in words", { from: "2026-11-21" }],
  ["times in the wrong order", { from: 2, to: 1 }],
  ["an unknown state", { state: "done" }],
  ["an unknown decision", { decision: "maybe" }],
  ["an unknown risk level", { riskLevel: "low" }],
  ["NUL", { rpc: "a\0" }],
  ["a number", { resource: 5 }],
  ["a text that is too long", { principalId: "x".repeat(513) }],
])("%s in a filter is refused", async (_, filter) => {
  await expect(log.list(filter as AuditFilter)).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
  });
});

test.each<AuditFilter>([
  { from: 0 },
  { to: 0 },
  { from: 5, to: 5 },
  { principalId: "x".repeat(512) },
  ...(["allowed", "denied", "none"] as const).map((decision) => ({ decision })),
  ...(["pending", "completed", "unknown"] as const).map((state) => ({ state })),
  ...(["LOW", "MEDIUM", "HIGH", "CRITICAL"] as const).map((riskLevel) => ({ riskLevel })),
])("the filter %j is none of those", async (filter) => {
  expect(await log.list(filter)).toHaveProperty("events");
});

test.each([0, -1, 1.5, 501, Number.NaN, "10"])("a page size of %s is refused", async (pageSize) => {
  await expect(log.list({}, { pageSize: pageSize as number })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: "a page has 1 to 500 events",
  });
});

describe("a cursor", () => {
  const altered = (change: (parts: unknown[]) => void) => {
    const parts = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown[];
    change(parts);
    return Buffer.from(JSON.stringify(parts)).toString("base64url");
  };

  test.each<[string, string, AuditFilter?]>([
    ["that is empty", ""],
    ["that is garbage", "garbage"],
    ["with white space", ` ${cursor}`],
    ["that was truncated", cursor.slice(0, -3)],
    ["with another time", altered((parts) => parts.splice(2, 1, 5))],
    ["with another id", altered((parts) => parts.splice(3, 1, "x"))],
    ["with another filter", altered((parts) => parts.splice(1, 1, "x"))],
    ["of another version", altered((parts) => parts.splice(0, 1, "2"))],
    ["that is an object", Buffer.from("{}").toString("base64url")],
    ["of another filter", cursor, { type: "doc.read" }],
    ["of no filter", cursor, {}],
  ])("%s is refused", async (_, given, filter = { type: "doc.write" }) => {
    await expect(log.list(filter, { cursor: given })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });

  test.each(["", "x", "\0", "' or 1=1 --", "%", "\ud800", "0".repeat(10_000)])(
    "that is valid except for the id %j is refused",
    async (id) => {
      const filter = { type: "doc.write" };
      const forged = formatCursor(filterHash(filter), { time: 1, id });
      await expect(log.list(filter, { cursor: forged })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    },
  );

  test.each(["5", 1.5, -0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, null, {}])(
    "that is valid except for the time %j is refused",
    async (time) => {
      const filter = { type: "doc.write" };
      const forged = formatCursor(filterHash(filter), { time: time as number, id: ID });
      await expect(log.list(filter, { cursor: forged })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    },
  );

  test.each<[string, AuditFilter, AuditFilter]>([
    ["from", { from: 1 }, { from: 2 }],
    ["to", { to: 9e12 }, { to: 9e12 + 1 }],
    ["to, not from", { from: 1 }, { to: 1 }],
    ["state", { state: "completed" }, {}],
    ["risk level", { riskLevel: "HIGH" }, {}],
    ["principal", { principalId: "a" }, { principalType: "a" }],
  ])("of a filter with another %s is refused", async (_, of, filter) => {
    const forged = formatCursor(filterHash(of), { time: 1, id: ID });
    expect(await log.list(of, { cursor: forged })).toEqual({ events: [] });
    await expect(log.list(filter, { cursor: forged })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "the cursor belongs to another request",
    });
  });

  test("continues where its page ended, with any page size", async () => {
    const rest = await log.list({ type: "doc.write" }, { cursor, pageSize: 500 });
    expect(rest.events).toHaveLength(3);
    expect(rest.nextCursor).toBeUndefined();
    expect(await log.list({ type: "doc.write" }, { cursor, pageSize: 3 })).toEqual(rest);
  });
});

test.each([
  "%",
  "_",
  "doc%",
  "doc:*",
  "' or '1'='1",
  '"',
  "\\",
  "doc.write\u0000".slice(0, 9).toUpperCase(),
])("a filter means its text to the letter: %j", async (text) => {
  for (const name of ["type", "rpc", "principalId", "resource", "requestId"] as const) {
    expect((await log.list({ [name]: text })).events).toEqual([]);
  }
});

test("events of an object with an unusual id are found by that id only", async () => {
  const ids = ["x\u202e", "x\u200e", "x\u2028", "x\u200b", "x\ufffd", "x", "漢字", "💥"];
  const resources = [...ids.map((id) => `odd:${id}`), `odd:${"\u202e".repeat(85)}`];
  for (const resource of resources) {
    const call = callOf(method);
    call.resource = resource;
    await audit.trail.complete(call, undefined);
  }
  for (const resource of resources) {
    const { events } = await log.list({ resource });
    expect(events).toHaveLength(1);
    expect(JSON.stringify(events)).not.toMatch(/[\u200e\u2028\u202e]/);
  }
});

test("an RPC that must be audited needs a database", async () => {
  const plain = methodOf({});
  expect(auditProblems([plain], undefined)).toEqual([]);
  expect(auditProblems([plain, method], database)).toEqual([]);
  expect(auditProblems([plain, method], undefined)).toEqual([
    expect.stringMatching(/^a\.v1\.Service\/Method must be audited, but there is no database: /),
  ]);
  expect(auditProblems([plain, method, method], undefined)).toEqual([
    "a.v1.Service/Method and 1 more must be audited, but there is no database: configure database, such as {driver: sqlite, file: …}",
  ]);
  const options = { ...logOf([]), service: "hub", database: undefined };
  await expect(openAudit({ ...options, methods: [method] })).rejects.toThrow("no database");
  const none = await openAudit({ ...options, methods: [plain] });
  expect(none.log).toBeUndefined();
  expect(none.trail.begin(callOf(plain))).toBeUndefined();
  expect(none.trail.complete(callOf(plain), undefined)).toBeUndefined();
  await none.close();
});
