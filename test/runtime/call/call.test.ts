import { describe, expect, test } from "vitest";
import type { CallStart } from "../../../src/runtime/call/call.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { callOf } from "../authn/calls.ts";

const DEADLINE = new ServiceError("DEADLINE_EXCEEDED");
const CANCELLED = new ServiceError("CANCELLED");

test("a call begins without a caller, without trust in its peer, and without a decision", () => {
  expect(callOf()).toMatchObject({
    principal: undefined,
    credential: "none",
    peerIsTrusted: false,
    clientAddress: "",
    traceId: "",
    isSampled: false,
    resource: undefined,
    decision: undefined,
    abortReason: undefined,
    deadline: Number.POSITIVE_INFINITY,
    endedAt: 0,
  });
});

describe("a call that ends early", () => {
  test("has its first reason only, for all its listeners", () => {
    const call = callOf();
    const reported: ServiceError[] = [];
    call.whenAborted((reason) => void reported.push(reason));
    const { signal } = call;
    call.abort(DEADLINE);
    call.abort(CANCELLED);
    expect(reported).toEqual([DEADLINE]);
    expect([call.abortReason, signal.aborted, signal.reason]).toEqual([DEADLINE, true, DEADLINE]);
  });

  test("has ended for later listeners, too", () => {
    const call = callOf();
    call.abort(DEADLINE);
    const reported: ServiceError[] = [];
    call.whenAborted((reason) => void reported.push(reason));
    expect(reported).toEqual([DEADLINE]);
    expect([call.signal.aborted, call.signal.reason]).toEqual([true, DEADLINE]);
  });
});

test("the duration of a call is fixed once it has ended", async () => {
  const call = callOf();
  const before = performance.now() - call.startedAt;
  const during = call.durationMs;
  expect(during).toBeGreaterThanOrEqual(before);
  expect(during).toBeLessThanOrEqual(performance.now() - call.startedAt);
  call.endedAt = call.startedAt + 7;
  expect(call.durationMs).toBeCloseTo(7);
});

describe("a header of the response, and a trailer,", () => {
  test.each<[CallStart["transport"], string, unknown]>([
    ["http", "", "v"],
    ["http", "a b", "v"],
    ["http", "a:", "v"],
    ["http", "a\r\nset-cookie", "v"],
    ["http", "ä", "v"],
    ["http", "a", "v\r\nset-cookie: x"],
    ["http", "a", "v\0"],
    ["http", "a", "v\x7f"],
    ["http", "a", "\u4e2d"],
    ["http", "a", 7],
    ["http", "a", undefined],
    ["grpc", "", "v"],
    ["grpc", "a b", "v"],
    ["grpc", "a!", "v"],
    ["grpc", "a", "v\n"],
    ["grpc", "a", "v\t"],
    ["grpc", "a", "\u00e9"],
    ["grpc", "a", ["v"]],
  ])("over %s is refused: %j: %j", (transport, name, value) => {
    const call = callOf({ transport });
    expect(() => call.setResponseHeader(name, value as string)).toThrow(TypeError);
    expect(() => call.setResponseTrailer(name, value as string)).toThrow(TypeError);
    expect(() => call.appendResponseHeader(name, value as string)).toThrow(TypeError);
    expect(() => call.appendResponseTrailer(name, value as string)).toThrow(TypeError);
    expect(call.beginResponse()).toBeUndefined();
    expect(call.endResponse()).toBeUndefined();
  });

  test.each<[CallStart["transport"], string, string]>([
    ["http", "X-A!#$%&'*+.^_`|~1", "v\tw\u00e9 "],
    ["http", "a", ""],
    ["grpc", "X-A_1.b", "v ~"],
    ["grpc", "a", ""],
  ])("over %s is sent: %j: %j", (transport, name, value) => {
    const call = callOf({ transport });
    call.setResponseHeader(name, "another");
    call.setResponseHeader(name.toLowerCase(), value);
    call.setResponseTrailer(name, value);
    expect([...(call.beginResponse() ?? [])]).toEqual([[name.toLowerCase(), value]]);
    expect([...(call.endResponse() ?? [])]).toEqual([[name.toLowerCase(), value]]);
  });

  test("is appended to existing values, whatever the case of its name", () => {
    const call = callOf({ transport: "grpc" });
    call.setResponseHeader("a", "1");
    call.appendResponseHeader("A", "2");
    call.appendResponseHeader("a", "3");
    call.appendResponseHeader("b", "4");
    call.appendResponseTrailer("a", "5");
    call.appendResponseTrailer("a", "6");
    expect([...(call.beginResponse() ?? [])]).toEqual([
      ["a", ["1", "2", "3"]],
      ["b", "4"],
    ]);
    expect([...(call.endResponse() ?? [])]).toEqual([["a", ["5", "6"]]]);
  });

  test("is refused once the response has begun or ended", () => {
    const call = callOf();
    call.beginResponse();
    expect(() => call.setResponseHeader("a", "v")).toThrow("was set too late");
    expect(() => call.appendResponseHeader("a", "v")).toThrow("was set too late");
    call.setResponseTrailer("a", "v");
    call.endResponse();
    expect(() => call.setResponseTrailer("a", "v")).toThrow("was set too late");
    expect(() => call.appendResponseTrailer("a", "v")).toThrow("was set too late");
  });
});
