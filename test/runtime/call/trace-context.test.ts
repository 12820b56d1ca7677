import { describe, expect, test } from "vitest";
import { injectTraceContext, traceIdOf } from "../../../src/runtime/call/call-ids.ts";
import { callOf, type SentHeaders } from "../authn/calls.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

describe("traceparent", () => {
  test.each([
    [""],
    ["00"],
    [`00-${TRACE}-${SPAN}`],
    [`00-${TRACE}-${SPAN}-1`],
    [`00-${TRACE}-${SPAN}-01-`],
    [`00-${TRACE}-${SPAN}-01-x`],
    [`00-${TRACE.toUpperCase()}-${SPAN}-01`],
    [`00-${"0".repeat(32)}-${SPAN}-01`],
    [`00-${TRACE}-${"0".repeat(16)}-01`],
    [`ff-${TRACE}-${SPAN}-01`],
    [`FF-${TRACE}-${SPAN}-01`],
    [`0-${TRACE}-${SPAN}-01`],
    [`x01-${TRACE}-${SPAN}-01`],
    [`01-${TRACE}-${SPAN}-01x`],
    [` 00-${TRACE}-${SPAN}-01`],
    [`00-${TRACE}-${SPAN}-0g`],
    [`00-${TRACE}-${SPAN}-01\n`],
    [`01-${TRACE}-${SPAN}-01-${"x".repeat(1000)}`],
  ])("%j is not valid", (value) => expect(traceIdOf(value)).toBeUndefined());

  test.each([
    [`00-${TRACE}-${SPAN}-01`],
    [`00-${TRACE}-${SPAN}-ff`],
    [`01-${TRACE}-${SPAN}-01`],
    [`cc-${TRACE}-${SPAN}-01-what-the-future-brings`],
  ])("%s is", (value) => expect(traceIdOf(value)).toBe(TRACE));
});

describe("the stage", () => {
  const stage = (headers: SentHeaders) => {
    const call = callOf({ headers });
    injectTraceContext(call);
    return call;
  };
  test("continues the caller's trace in a new span", () => {
    const call = stage([["traceparent", `00-${TRACE}-${SPAN}-01`]]);
    expect(call.traceId).toBe(TRACE);
    expect(call.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(call.spanId).not.toBe(SPAN);
  });

  test.each([
    ["00", false],
    ["01", true],
    ["02", false],
    ["ff", true],
  ])("knows by the flags %s whether the trace is recorded: %s", (flags, isSampled) => {
    expect(stage([["traceparent", `00-${TRACE}-${SPAN}-${flags}`]]).isSampled).toBe(isSampled);
  });

  test("begins a trace if there is none, or two", () => {
    const sent = `00-${TRACE}-${SPAN}-01`;
    const cases: SentHeaders[] = [
      [],
      [
        ["traceparent", sent],
        ["traceparent", sent],
      ],
      [["traceparent", "x"]],
    ];
    for (const headers of cases) {
      const call = stage(headers);
      expect(call.traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(call.traceId).not.toBe(TRACE);
    }
  });

  test("ids are unique", () => {
    const ids = new Set<string>();
    for (let round = 0; round < 5000; round++) {
      const { traceId, spanId } = stage([]);
      ids.add(traceId).add(spanId);
    }
    expect(ids.size).toBe(10_000);
  });
});
