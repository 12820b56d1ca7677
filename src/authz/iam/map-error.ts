import { AuthzError, type AuthzErrorCode } from "../engine/authz-error.ts";

/** What a client reports of a failed call. */
interface CallFailure {
  readonly grpcStatus: number;
  readonly code: string;
  readonly message: string;
}

/** Refusals of the engine of IAM, which were meant for its caller. */
const REFUSALS: Readonly<Record<number, AuthzErrorCode>> = {
  3: "INVALID_ARGUMENT",
  6: "ALREADY_EXISTS",
  8: "RESOURCE_EXHAUSTED",
  9: "FAILED_PRECONDITION",
  11: "OUT_OF_RANGE",
  12: "UNIMPLEMENTED",
};

/** Other failures, which say nothing about the request. */
const FAILURES: Readonly<Record<number, AuthzErrorCode>> = {
  // The caller's own end is reported by its signal, so this one is that of IAM.
  1: "UNAVAILABLE",
  4: "DEADLINE_EXCEEDED",
  14: "UNAVAILABLE",
};

/** What a person must fix; no decision is possible, and the caller cannot change that. */
const MISCONFIGURED: Readonly<Record<number, string>> = {
  7: "IAM refuses this service",
  16: "IAM does not accept the internal token of this service",
};

/** A failed call in the codes that all engines share. */
export function mapCallError(error: unknown): AuthzError {
  if (error instanceof AuthzError) return error;
  if (!isCallFailure(error)) {
    return new AuthzError("INTERNAL", "the call to IAM failed in the client", { cause: error });
  }
  const { grpcStatus, code, message } = error;
  const misconfigured = MISCONFIGURED[grpcStatus];
  if (misconfigured !== undefined) {
    return new AuthzError("UNAVAILABLE", `${misconfigured}: ${message}`, { cause: error });
  }
  // IAM is overloaded, or the service has too many watches: the request itself is right.
  if (code === "RATE_LIMITED") {
    return new AuthzError("UNAVAILABLE", `IAM: ${message}`, { cause: error });
  }
  const refusal = REFUSALS[grpcStatus];
  if (refusal !== undefined) return new AuthzError(refusal, message, { cause: error });
  return new AuthzError(FAILURES[grpcStatus] ?? "INTERNAL", `IAM: ${message}`, { cause: error });
}

const CODES: ReadonlySet<string> = new Set<AuthzErrorCode>([
  "INVALID_ARGUMENT",
  "ALREADY_EXISTS",
  "FAILED_PRECONDITION",
  "OUT_OF_RANGE",
  "RESOURCE_EXHAUSTED",
  "DEADLINE_EXCEEDED",
  "CANCELLED",
  "UNAVAILABLE",
  "UNIMPLEMENTED",
  "INTERNAL",
]);

/** The error of one check of many, as IAM reports it. */
export function checkError({ code, message }: { code: string; message: string }): AuthzError {
  return new AuthzError(CODES.has(code) ? (code as AuthzErrorCode) : "INTERNAL", message);
}

function isCallFailure(error: unknown): error is Error & CallFailure {
  return error instanceof Error && typeof (error as Partial<CallFailure>).grpcStatus === "number";
}
