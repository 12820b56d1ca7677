import { expect, test } from "vitest";
import {
  ERROR_CODES,
  type ErrorCode,
  grpcStatusOf,
  status,
} from "../../../src/runtime/error/error-codes.ts";
import { missingPrincipal, ServiceError } from "../../../src/runtime/error/service-error.ts";

/** ERR-1 of docs/requirements.md: the HTTP status, the number of the gRPC status, and the default message. */
const CODES: Record<ErrorCode, [http: number, grpc: number, message: string]> = {
  INVALID_ARGUMENT: [400, 3, "invalid argument"],
  UNAUTHORIZED: [401, 16, "unauthorized"],
  FORBIDDEN: [403, 7, "permission denied"],
  RESOURCE_NOT_FOUND: [404, 5, "resource not found"],
  METHOD_NOT_ALLOWED: [405, 12, "method not allowed"],
  ALREADY_EXISTS: [409, 6, "already exists"],
  FAILED_PRECONDITION: [412, 9, "failed precondition"],
  PAYLOAD_TOO_LARGE: [413, 8, "payload too large"],
  UNSUPPORTED_MEDIA_TYPE: [415, 3, "unsupported media type"],
  RATE_LIMITED: [429, 8, "rate limited"],
  CANCELLED: [499, 1, "the caller has cancelled"],
  INTERNAL: [500, 13, "internal error"],
  UNIMPLEMENTED: [501, 12, "unimplemented"],
  UNAVAILABLE: [503, 14, "unavailable"],
  DEADLINE_EXCEEDED: [504, 4, "deadline exceeded"],
};

test.each(Object.entries(CODES))(
  "%s has its status, over HTTP and gRPC, and its message [ERR-1]",
  (code, [http, grpcStatus, message]) => {
    const error = new ServiceError(code as ErrorCode);
    expect(error).toMatchObject({ name: "ServiceError", status: http, code, grpcStatus, message });
    expect(error).toMatchObject({
      details: undefined,
      retryAfterSeconds: undefined,
      isRemote: false,
    });
    expect("cause" in error).toBe(false);
  },
);

test("there are no other codes [ERR-1]", () => {
  expect(Object.keys(ERROR_CODES).sort()).toEqual(Object.keys(CODES).sort());
});

test("the status codes of gRPC have their numbers", () => {
  // https://grpc.io/docs/guides/status-codes
  const names =
    "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED".split(
      " ",
    );
  expect(status).toEqual(Object.fromEntries(names.map((name, number) => [name, number])));
});

test.each([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [402, "INVALID_ARGUMENT"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [405, "INVALID_ARGUMENT"],
  [409, "ALREADY_EXISTS"],
  [412, "FAILED_PRECONDITION"],
  [413, "RESOURCE_EXHAUSTED"],
  [422, "INVALID_ARGUMENT"],
  [429, "RESOURCE_EXHAUSTED"],
  [498, "INVALID_ARGUMENT"],
  [499, "CANCELLED"],
  [500, "INTERNAL"],
  [501, "UNIMPLEMENTED"],
  [502, "INTERNAL"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
  [599, "INTERNAL"],
] as const)("an error of a service's own with %i is %s over gRPC", (http, name) => {
  expect(grpcStatusOf(http)).toBe(status[name]);
  const error = ServiceError.of(http, "ODD", "odd");
  expect(error).toMatchObject({
    status: http,
    code: "ODD",
    message: "odd",
    grpcStatus: status[name],
  });
});

test("an error with a custom status has that status, whatever its code", () => {
  const error = ServiceError.of(409, "UNAUTHORIZED", "odd");
  expect(error).toMatchObject({ status: 409, grpcStatus: status.ALREADY_EXISTS });
});

test("an unknown code is INTERNAL, and the default message", () => {
  const error = new ServiceError("ODD" as ErrorCode);
  expect(error).toMatchObject({ status: 500, grpcStatus: status.INTERNAL, message: "ODD" });
});

test("an error keeps its arguments [ERR-3]", () => {
  const cause = new Error("why");
  const given = { details: { a: 1 }, retryAfterSeconds: 7, isRemote: true };
  for (const error of [
    new ServiceError("UNAVAILABLE", "mine", { ...given, cause }),
    ServiceError.of(503, "CLOSED", "mine", { ...given, cause }),
  ]) {
    expect(error).toMatchObject({ ...given, message: "mine" });
    expect(error.cause).toBe(cause);
  }
});

test("requirePrincipal without a caller is 401 with the missing credential [AUTHN-11]", () => {
  expect(missingPrincipal()).toMatchObject({
    status: 401,
    code: "UNAUTHORIZED",
    message: "missing principal",
  });
});
