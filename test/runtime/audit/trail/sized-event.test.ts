import { expect, test } from "vitest";
import { MAX_TEXT, safeText } from "../../../../src/runtime/audit/event/audit-event.ts";
import { describeRecord } from "../../../../src/runtime/audit/event/audit-record.ts";
import { describeCall } from "../../../../src/runtime/audit/event/describe-call.ts";
import { MAX_EVENT_BYTES, sizedEvent } from "../../../../src/runtime/audit/trail/sized-event.ts";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { callOf, methodOf, principalOf } from "../../authorization/calls.ts";

const EVILS = ["x", '"', "\\", "\u0000", "\u202e", "\u00e9", "💥", "\ud800", "…"];

test.each(EVILS)("no caller can make an event of more than 4 KiB with %j", (unit) => {
  const long = unit.repeat(20_000);
  const method = methodOf(
    {
      exposure: "AUTHORIZED",
      authz: {
        action: "a".repeat(5000),
        audience: "u".repeat(5000),
        resource: { type: "doc", id: "*" },
        mode: "CHECK_ONLY",
      },
      audit: { event: `a.${"b".repeat(5000)}`, riskLevel: "CRITICAL" },
    },
    { rpc: `a.v1.S/${"M".repeat(5000)}` },
  );
  const principal = principalOf({
    subjectId: long,
    subjectType: long,
    organizationId: long,
    source: long as "jwt",
  });
  const call = callOf(method, { principal, requestId: long, clientAddress: long });
  Object.assign(call, {
    resource: `doc:${long}`,
    revision: long,
    decision: "denied",
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
  });
  const source = { service: long, instance: long };
  const error = ServiceError.of(418, long, "x");
  const outcome = { error, durationMs: 1 };
  const answer = { error: ServiceError.of(419, `y${long}`, "x") };
  const details = Object.fromEntries(
    Array.from({ length: 16 }, (_, index) => [`a${index}`.padEnd(40, "b"), long]),
  );
  const time = Date.UTC(2026, 0, 1);
  const id = "0".repeat(36);
  const record = { event: `a.${"b".repeat(126)}`, resource: `doc:${"x".repeat(256)}` };
  const events = [
    sizedEvent(time, time, (maxText) =>
      describeCall(source, call, id, time, outcome, { answer, maxText }),
    ),
    sizedEvent(time, time, (maxText) =>
      describeRecord(source, call, { record, details, id, time, callEvent: id }, maxText),
    ),
  ];
  for (const { event, row } of events) {
    expect(Buffer.byteLength(row.event)).toBeLessThanOrEqual(MAX_EVENT_BYTES);
    expect(JSON.parse(row.event)).toEqual(event);
    // It is found by its full values, like any other event.
    expect(row.principal_id).toBe(safeText(long));
    expect(event.data.principal?.id).toMatch(/…[0-9a-f]{12}$/);
  }
});

test("truncated values are marked, and differ if the full values do", () => {
  const [one, other] = [`${"x".repeat(600)}1`, `${"x".repeat(600)}2`];
  expect(safeText(one)).toHaveLength(MAX_TEXT);
  expect(safeText(one)).toMatch(/^x{499}…[0-9a-f]{12}$/);
  expect(safeText(one)).not.toBe(safeText(other));
  expect(safeText(safeText(one))).toBe(safeText(one));
  expect(safeText("x".repeat(MAX_TEXT))).toBe("x".repeat(MAX_TEXT));
});
