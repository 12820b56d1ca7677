import { describe, expect, test } from "vitest";
import { abortError } from "../../../../src/authz/engine/abort-error.ts";
import {
  didNothing,
  isGrpcFailure,
  mapGrpcError,
} from "../../../../src/authz/spicedb/client/map-error.ts";

const DEPTH = "the check request has exceeded the allowable maximum depth of 50: see";

describe("mapGrpcError", () => {
  test.each([
    [1, "context canceled", "UNAVAILABLE"],
    [2, "unable to find revision: failed to connect to the database", "UNAVAILABLE"],
    [3, "invalid", "INVALID_ARGUMENT"],
    [4, "late", "DEADLINE_EXCEEDED"],
    [5, "No schema has been defined", "FAILED_PRECONDITION"],
    [6, "exists", "ALREADY_EXISTS"],
    [7, "denied", "UNAVAILABLE"],
    [8, "too much", "RESOURCE_EXHAUSTED"],
    [8, DEPTH, "FAILED_PRECONDITION"],
    [9, "precondition", "FAILED_PRECONDITION"],
    [9, "object definition `document` not found", "FAILED_PRECONDITION"],
    [10, "serialization", "UNAVAILABLE"],
    [11, "revision expired", "OUT_OF_RANGE"],
    [12, "unimplemented", "UNIMPLEMENTED"],
    [13, "defect", "UNAVAILABLE"],
    [13, "Received RST_STREAM with code 2", "UNAVAILABLE"],
    [13, "BUG: cannot call HintForEntrypoint for kind SELF_ENTRYPOINT\nstack", "UNIMPLEMENTED"],
    [14, "No connection established", "UNAVAILABLE"],
    [15, "loss", "UNAVAILABLE"],
    [16, "invalid preshared key", "UNAVAILABLE"],
    [99, "new", "INTERNAL"],
  ])("status %i (%s) is %s", (code, details, expected) => {
    expect(mapGrpcError({ code, details }, "key")).toMatchObject({
      name: "AuthzError",
      code: expected,
    });
  });

  test("never contains the secret", () => {
    const error = mapGrpcError({ code: 16, details: "bad key hunter2: hunter2" }, "hunter2");
    expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain("hunter2");
  });
});

test.each([
  [10, "serialization failure", true],
  [14, "No connection established. Last error: connect ECONNREFUSED", true],
  [14, "Name resolution failed for target", true],
  [14, "Connection dropped", false],
  [4, "No connection established", false],
])("a write after status %i (%s) may be sent again: %s", (code, details, expected) => {
  expect(didNothing({ code, details })).toBe(expected);
});

test("only errors of grpc-js are failures of a call", () => {
  expect(isGrpcFailure(Object.assign(new Error("x"), { code: 14, details: "y" }))).toBe(true);
  expect(isGrpcFailure(Object.assign(new Error("x"), { code: "ENOENT" }))).toBe(false);
  expect(isGrpcFailure({ code: 14, details: "y" })).toBe(false);
});

test("the reason of an abort distinguishes a deadline from a cancelled call", () => {
  expect(abortError(AbortSignal.abort()).code).toBe("CANCELLED");
  const timeout = AbortSignal.abort(new DOMException("late", "TimeoutError"));
  expect(abortError(timeout).code).toBe("DEADLINE_EXCEEDED");
});
