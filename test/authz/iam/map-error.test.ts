import { expect, test } from "vitest";
import { AuthzError } from "../../../src/authz/engine/authz-error.ts";
import { checkError, mapCallError } from "../../../src/authz/iam/map-error.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";

const SERVER = {
  name: "IAM",
  address: "iam:19080",
  keys: {
    endpoint: "iam.endpoint",
    insecure: "iam.insecure",
    token: "iam.token_file",
    ca: "iam.ca_file",
    certificate: "iam.certificate_file",
  },
};
/** What the client reports where no server has answered. */
const unreached = (said: string) =>
  new ServiceError("UNAVAILABLE", undefined, { cause: new Error(`14 UNAVAILABLE: ${said}`) });

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
  [
    "too many calls",
    new ServiceError("RATE_LIMITED", "why"),
    "UNAVAILABLE",
    "IAM at iam:19080 takes no more now: it is overloaded, or this service has too many watches",
  ],
  [
    "no connection",
    new ServiceError("UNAVAILABLE"),
    "UNAVAILABLE",
    "IAM at iam:19080 cannot be reached: check that it runs, and iam.endpoint",
  ],
  [
    "a refused connection",
    unreached(
      "No connection established. Last error: Error: connect ECONNREFUSED 10.1.2.3:19080. Resolution note: ",
    ),
    "UNAVAILABLE",
    "IAM at iam:19080 cannot be reached (connection refused): check that it runs, and iam.endpoint",
  ],
  [
    "a name that is not found",
    unreached("Name resolution failed for target dns:iam:19080"),
    "UNAVAILABLE",
    "IAM at iam:19080 cannot be reached (the name is not found): correct iam.endpoint, or the DNS",
  ],
  [
    "a CA that is not trusted",
    unreached(
      "No connection established. Last error: Error: self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca",
    ),
    "UNAVAILABLE",
    "the certificate of IAM at iam:19080 is not signed by a trusted CA: name that CA in iam.ca_file",
  ],
  [
    "an IAM that cannot answer",
    new ServiceError("UNAVAILABLE", "database iam of user root is down", { isRemote: true }),
    "UNAVAILABLE",
    "IAM at iam:19080 cannot answer now: look at its log and its /readyz",
  ],
  [
    "the end of IAM",
    new ServiceError("CANCELLED", "why", { isRemote: true }),
    "UNAVAILABLE",
    "IAM at iam:19080 cannot answer now: look at its log and its /readyz",
  ],
  [
    "no answer",
    new ServiceError("DEADLINE_EXCEEDED", "Deadline exceeded after 5s,remote_addr=10.1.2.3:19080"),
    "DEADLINE_EXCEEDED",
    "IAM: deadline exceeded",
  ],
  [
    "a type that is not listed",
    new ServiceError("FORBIDDEN", "iam.services.hub is missing"),
    "UNAVAILABLE",
    "IAM at iam:19080 refuses this service: check its entry in iam.services of IAM, and the types that it may read and write there",
  ],
  [
    "a wrong token",
    new ServiceError("UNAUTHORIZED", "wrong internal token"),
    "UNAVAILABLE",
    "IAM at iam:19080 does not accept the internal token of this service: iam.token_file here must be one of security.authn.internal_call.token of IAM",
  ],
  ["a defect of IAM", new ServiceError("INTERNAL"), "INTERNAL", "IAM: internal error"],
  ["an unknown RPC", new ServiceError("RESOURCE_NOT_FOUND", "why"), "INTERNAL", "IAM: why"],
  ["a defect here", new TypeError("secret"), "INTERNAL", "the call to IAM failed in the client"],
])("%s", (_, thrown, code, message) => {
  const error = mapCallError(thrown, SERVER);
  expect(error).toBeInstanceOf(AuthzError);
  expect([error.code, error.message]).toEqual([code, message]);
  expect(mapCallError(error, SERVER)).toBe(error);
});

test("what IAM says is one line of bounded length, that a terminal may show", () => {
  const said = `first\nsecond \u001b[2J ${"x".repeat(5000)}`;
  const { message } = mapCallError(new ServiceError("RESOURCE_NOT_FOUND", said), SERVER);
  expect(message).toMatch(/^IAM: first second \\u001b\[2J x+…$/);
  expect(message.length).toBeLessThan(400);
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
