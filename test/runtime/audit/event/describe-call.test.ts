import { expect, test } from "vitest";
import { eventId } from "../../../../src/runtime/audit/event/audit-event.ts";
import { describeCall } from "../../../../src/runtime/audit/event/describe-call.ts";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { callOf, methodOf, principalOf } from "../../authorization/calls.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const TIME = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const source = { service: "hub", instance: "replica-1" };
const method = methodOf({ audit: { event: "doc.write", riskLevel: "CRITICAL" } });
const bareCall = () => {
  const call = callOf(method, { requestId: "r-1" });
  call.clientAddress = call.peer.address;
  return call;
};
/** The members that every event has. */
const bare = {
  risk_level: "CRITICAL",
  rpc: method.rpc,
  transport: "http",
  decision: "none",
  request_id: "r-1",
  client_address: "10.0.0.1",
  instance: "replica-1",
};
const envelope = {
  specversion: "1.0",
  id: "id-1",
  source: "/svc/hub",
  type: "doc.write",
  time: "2026-01-02T03:04:05.678Z",
  datacontenttype: "application/json",
};

test("an event has no member for an unknown value", () => {
  expect(describeCall(source, bareCall(), "id-1", TIME, undefined)).toStrictEqual({
    ...envelope,
    data: { state: "pending", ...bare },
  });
});

test.each([
  [undefined, { status: 200, code: "OK" }],
  [new ServiceError("FORBIDDEN", "t0ps3cret"), { status: 403, code: "FORBIDDEN" }],
  [
    new ServiceError("INTERNAL", undefined, { cause: "t0ps3cret" }),
    { status: 500, code: "INTERNAL" },
  ],
])("an event that ended with %s has its outcome, and no word of the error", (error, reported) => {
  const outcome = { error, durationMs: 12.3456 };
  expect(describeCall(source, bareCall(), "id-1", TIME, outcome)).toStrictEqual({
    ...envelope,
    data: { state: "completed", ...bare, ...reported, duration_ms: 12.346 },
  });
});

test("an event has the caller, the object and the source address [AUDIT-1]", () => {
  const call = callOf(method, { principal: principalOf({ organizationId: "" }), requestId: "r-1" });
  call.resource = "doc:d1";
  call.decision = "denied";
  call.clientAddress = "203.0.113.7";
  expect(describeCall(source, call, "id-1", TIME, undefined)).toStrictEqual({
    ...envelope,
    subject: "doc:d1",
    data: {
      state: "pending",
      ...bare,
      principal: { type: "user", id: "alice", source: "jwt" },
      resource: "doc:d1",
      decision: "denied",
      client_address: "203.0.113.7",
      peer_address: "10.0.0.1",
    },
  });
});

test.each([
  [TRACE, SPAN, true, `00-${TRACE}-${SPAN}-01`],
  [TRACE, SPAN, false, `00-${TRACE}-${SPAN}-00`],
  [TRACE, "", true, undefined],
  ["", SPAN, true, undefined],
])(
  "with the trace %j, the span %j, sampled %s it has %s",
  (traceId, spanId, isSampled, reported) => {
    const call = bareCall();
    Object.assign(call, { traceId, spanId, isSampled });
    const event = describeCall(source, call, "id-1", TIME, undefined);
    expect(event.traceparent).toBe(reported);
    expect(event.data.trace_id).toBe(traceId === "" ? undefined : traceId);
  },
);

test("a call without audit has no event", () => {
  const call = callOf(methodOf({}));
  expect(() => describeCall(source, call, "id-1", TIME, undefined)).toThrow("has no audit");
});

test("ids are UUIDs of version 7, which sort by time", () => {
  expect(eventId(TIME)).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(Number.parseInt(eventId(TIME).replace("-", "").slice(0, 12), 16)).toBe(TIME);
  expect(eventId(5).slice(0, 14)).toBe("00000000-0005-");
  expect(eventId(TIME)).not.toBe(eventId(TIME));
  expect(eventId(TIME) < eventId(TIME + 1)).toBe(true);
});
