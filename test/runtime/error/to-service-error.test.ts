import { expect, test } from "vitest";
import { AuthzError, type AuthzErrorCode } from "../../../src/authz/engine/authz-error.ts";
import { DatabaseError, type DatabaseErrorCode } from "../../../src/database/database-error.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { toServiceError } from "../../../src/runtime/error/to-service-error.ts";

test.each<[AuthzErrorCode, string, string]>([
  ["UNAVAILABLE", "UNAVAILABLE", "unavailable"],
  ["RESOURCE_EXHAUSTED", "UNAVAILABLE", "unavailable"],
  ["INTERNAL", "INTERNAL", "internal error"],
  ["DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED", "why"],
  ["INVALID_ARGUMENT", "INVALID_ARGUMENT", "why"],
  ["OUT_OF_RANGE", "INVALID_ARGUMENT", "why"],
  ["FAILED_PRECONDITION", "FAILED_PRECONDITION", "why"],
  ["ALREADY_EXISTS", "ALREADY_EXISTS", "why"],
  ["CANCELLED", "CANCELLED", "why"],
  ["UNIMPLEMENTED", "UNIMPLEMENTED", "why"],
])("an engine's %s is %s", (code, reported, message) => {
  expect(toServiceError(new AuthzError(code, "why"))).toMatchObject({ code: reported, message });
});

test.each<[DatabaseErrorCode]>([["UNAVAILABLE"], ["FAILED_PRECONDITION"], ["INVALID_ARGUMENT"]])(
  "a database's %s is 503 to callers, who do not learn where it is and what it lacks",
  (code) => {
    const error = new DatabaseError(code, "the database notes at db:5432 …");
    const reported = toServiceError(error);
    const expected = { code: "UNAVAILABLE", message: "unavailable", retryAfterSeconds: 1 };
    expect(reported).toMatchObject({ ...expected, cause: error });
  },
);

test.each([new Error("secret"), new TypeError("secret"), "secret", undefined, null, 7])(
  "an error that is not a ServiceError is INTERNAL, without its message [ERR-3]",
  (thrown) => {
    const reported = toServiceError(thrown);
    expect(reported).toMatchObject({ code: "INTERNAL", status: 500, message: "internal error" });
    expect(reported.cause).toBe(thrown);
  },
);

test.each([
  ["UNAUTHORIZED", "INTERNAL"],
  ["FORBIDDEN", "INTERNAL"],
  ["RATE_LIMITED", "UNAVAILABLE"],
  ["RESOURCE_NOT_FOUND", "RESOURCE_NOT_FOUND"],
  ["UNAVAILABLE", "UNAVAILABLE"],
] as const)("%s of another service is %s for whoever called this one", (code, reported) => {
  const remote = new ServiceError(code, "theirs", { isRemote: true });
  expect(toServiceError(remote).code).toBe(reported);
  expect(toServiceError(new ServiceError(code, "ours"))).toMatchObject({ code, message: "ours" });
});

test.each([
  [401, "TOKEN_EXPIRED", "INTERNAL"],
  [403, "TENANT_LOCKED", "INTERNAL"],
  [429, "QUOTA", "UNAVAILABLE"],
] as const)("%i %s of another service is %s, whatever it calls it", (status, code, reported) => {
  const remote = ServiceError.of(status, code, "theirs", { isRemote: true });
  const error = toServiceError(remote);
  expect(error.code).toBe(reported);
  expect(error.message).not.toContain("theirs");
});

test.each([0, 17, -1, 1.5, Number.NaN])(
  "%s is not a valid gRPC status of an error",
  (grpcStatus) => {
    expect(() => ServiceError.of(500, "ODD", "odd", { grpcStatus })).toThrow(RangeError);
  },
);

test("an error may have a gRPC status that no HTTP status corresponds to", () => {
  expect(ServiceError.of(409, "MOVED", "moved", { grpcStatus: 10 })).toMatchObject({
    status: 409,
    grpcStatus: 10,
  });
});

test.each([399, 600, 200, 0, 404.5, Number.NaN])(
  "%s is not a valid HTTP status of an error",
  (status) => {
    expect(() => ServiceError.of(status, "ODD", "odd")).toThrow(RangeError);
  },
);
