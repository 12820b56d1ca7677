import { describe, expect, test } from "vitest";
import { abortError } from "../../../../src/authz/engine/abort-error.ts";
import { serverOf } from "../../../../src/authz/spicedb/client/channel.ts";
import {
  didNothing,
  isGrpcFailure,
  mapGrpcError,
} from "../../../../src/authz/spicedb/client/map-error.ts";

const server = serverOf({
  endpoint: "spicedb:50051",
  token: "key",
  section: "security.authz.spicedb",
});
const asked = { server, token: "key" };
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
    expect(mapGrpcError({ code, details }, asked)).toMatchObject({
      name: "AuthzError",
      code: expected,
    });
  });

  test("never contains the secret", () => {
    for (const code of [3, 16]) {
      const failure = { code, details: "bad key hunter2: hunter2" };
      const error = mapGrpcError(failure, { server, token: "hunter2" });
      const cause = error.cause instanceof Error ? error.cause : undefined;
      const texts = [error.message, error.stack, cause?.message, cause?.stack];
      expect(texts.join()).not.toContain("hunter2");
    }
  });

  const REFUSED =
    "No connection established. Last error: Error: connect ECONNREFUSED 10.1.2.3:50051. Resolution note: ";
  test.each([
    [
      14,
      REFUSED,
      "SpiceDB at spicedb:50051 cannot be reached (connection refused): check that it runs, and security.authz.spicedb.endpoint",
    ],
    [
      14,
      "Name resolution failed for target dns:spicedb:50051",
      "SpiceDB at spicedb:50051 cannot be reached (the name is not found): correct security.authz.spicedb.endpoint, or the DNS",
    ],
    [
      14,
      "No connection established. Last error: Error: self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca. Resolution note: ",
      "the certificate of SpiceDB at spicedb:50051 is not signed by a trusted CA: name that CA in security.authz.spicedb.ca_file",
    ],
    [
      7,
      "invalid preshared key: key",
      "SpiceDB at spicedb:50051 does not accept the preshared key: correct security.authz.spicedb.token or token_file",
    ],
    [
      2,
      "unable to find revision: failed to connect to `user=root database=prod`: x509: certificate has expired",
      "SpiceDB at spicedb:50051 cannot answer now: look at its log, and at its database",
    ],
    [4, "Deadline exceeded after 5s,remote_addr=10.1.2.3:50051", "the deadline has passed"],
  ])("status %i (%s) is reported in our own words", (code, details, message) => {
    expect(mapGrpcError({ code, details }, asked).message).toBe(message);
  });

  test("what SpiceDB said of its own failure is the cause, for the log", () => {
    const { cause } = mapGrpcError({ code: 2, details: "database=prod\nstack" }, asked);
    expect(cause).toEqual(new Error("gRPC status 2: database=prod"));
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
