import { expect, test } from "vitest";
import { AuthzError } from "../../../src/authz/engine/authz-error.ts";
import { checkError, mapCallError } from "../../../src/authz/iam/map-error.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";

test.each<[string, ServiceError | Error, string, string]>([
  ["an invalid request", new ServiceError("INVALID_ARGUMENT", "why"), "INVALID_ARGUMENT", "why"],
  ["what exists", new ServiceError("ALREADY_EXISTS", "why"), "ALREADY_EXISTS", "why"],
  ["a precondition", new ServiceError("FAILED_PRECONDITION", "why"), "FAILED_PRECONDITION", "why"],
  [
    "an old cursor",
    ServiceError.of(400, "OUT_OF_RANGE", "why", { grpcStatus: 11 }),
    "OUT_OF_RANGE",
    "why",
  ],
  [
    "an old cursor, without an ErrorInfo",
    new ServiceError("INVALID_ARGUMENT", "why", { grpcStatus: 11 }),
    "OUT_OF_RANGE",
    "why",
  ],
  [
    "too many results",
    ServiceError.of(429, "RESOURCE_EXHAUSTED", "why", { grpcStatus: 8 }),
    "RESOURCE_EXHAUSTED",
    "why",
  ],
  ["a large request", new ServiceError("PAYLOAD_TOO_LARGE", "why"), "RESOURCE_EXHAUSTED", "why"],
  ["what IAM does not do", new ServiceError("UNIMPLEMENTED", "why"), "UNIMPLEMENTED", "why"],
  ["too many calls", new ServiceError("RATE_LIMITED", "why"), "UNAVAILABLE", "IAM: why"],
  ["no connection", new ServiceError("UNAVAILABLE"), "UNAVAILABLE", "IAM: unavailable"],
  ["the end of IAM", new ServiceError("CANCELLED", "why"), "UNAVAILABLE", "IAM: why"],
  [
    "no answer",
    new ServiceError("DEADLINE_EXCEEDED"),
    "DEADLINE_EXCEEDED",
    "IAM: deadline exceeded",
  ],
  [
    "a type that is not listed",
    new ServiceError("FORBIDDEN", "iam.services.hub is missing"),
    "UNAVAILABLE",
    "IAM refuses this service: iam.services.hub is missing",
  ],
  [
    "a wrong token",
    new ServiceError("UNAUTHORIZED", "wrong internal token"),
    "UNAVAILABLE",
    "IAM does not accept the internal token of this service: wrong internal token",
  ],
  ["a defect of IAM", new ServiceError("INTERNAL"), "INTERNAL", "IAM: internal error"],
  ["an unknown RPC", new ServiceError("RESOURCE_NOT_FOUND", "why"), "INTERNAL", "IAM: why"],
  ["a defect here", new TypeError("secret"), "INTERNAL", "the call to IAM failed in the client"],
])("%s", (_, thrown, code, message) => {
  const error = mapCallError(thrown);
  expect(error).toBeInstanceOf(AuthzError);
  expect([error.code, error.message]).toEqual([code, message]);
  expect(mapCallError(error)).toBe(error);
});

test("a check of many has the code of IAM, if that is a code of engines", () => {
  expect(checkError({ code: "FAILED_PRECONDITION", message: "deep" })).toMatchObject({
    code: "FAILED_PRECONDITION",
    message: "deep",
  });
  for (const code of ["", "FORBIDDEN", "constructor"]) {
    expect(checkError({ code, message: "" })).toMatchObject({ code: "INTERNAL" });
  }
});
