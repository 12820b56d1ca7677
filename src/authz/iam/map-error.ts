import { printable } from "../../common/printable.ts";
import { type AskedServer, titleOf, whyUnreachable } from "../engine/asked-server.ts";
import { AuthzError, type AuthzErrorCode } from "../engine/authz-error.ts";

/** What a client reports of a failed call. */
interface CallFailure {
  readonly grpcStatus: number;
  readonly code: string;
  readonly message: string;
  /** Whether IAM has answered; otherwise the cause is the error of grpc-js. */
  readonly isRemote?: boolean;
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
  7: "UNAVAILABLE",
  14: "UNAVAILABLE",
  16: "UNAVAILABLE",
};

const [PERMISSION_DENIED, UNAUTHENTICATED] = [7, 16];
/** What the API of IAM calls the cursor of an engine. */
const PAGE_TOKEN = /^page_token /;

/** The longest text of IAM in a message, in characters. */
const MAX_TEXT = 300;

/** A failed call in the codes that all engines share. */
export function mapCallError(error: unknown, server: AskedServer): AuthzError {
  if (error instanceof AuthzError) return error;
  if (!isCallFailure(error)) {
    return new AuthzError("INTERNAL", "the call to IAM failed in the client", { cause: error });
  }
  const { grpcStatus, code, message } = error;
  const options = { cause: error };
  // The request itself is right.
  if (code === "RATE_LIMITED") {
    const why = "it is overloaded, or this service has too many watches";
    return new AuthzError("UNAVAILABLE", `${titleOf(server)} takes no more now: ${why}`, options);
  }
  const refusal = REFUSALS[grpcStatus];
  if (refusal !== undefined) {
    return new AuthzError(refusal, message.replace(PAGE_TOKEN, "the cursor "), options);
  }
  switch (FAILURES[grpcStatus]) {
    case "UNAVAILABLE":
      return new AuthzError("UNAVAILABLE", whyUnavailable(error, server), options);
    case "DEADLINE_EXCEEDED":
      // Callers may see it, and the text of grpc-js has addresses.
      return new AuthzError("DEADLINE_EXCEEDED", "IAM: deadline exceeded", options);
    default:
      return new AuthzError("INTERNAL", `IAM: ${oneLine(message)}`, options);
  }
}

/**
 * No decision is possible, and the caller cannot change that: what a person must correct. `/readyz` shows it to
 * anybody, so what IAM says is in the cause only.
 */
function whyUnavailable(error: Error & CallFailure, server: AskedServer): string {
  const title = titleOf(server);
  switch (error.grpcStatus) {
    case PERMISSION_DENIED:
      return `${title} refuses this service: check its entry in iam.services of IAM, and the types that it may read and write there`;
    case UNAUTHENTICATED:
      return `${title} does not accept the internal token of this service: ${server.keys.token} here must be one of security.authn.internal_call.token of IAM`;
    default:
      return error.isRemote === true
        ? `${title} cannot answer now: look at its log and its /readyz`
        : whyUnreachable(server, saidBy(error.cause));
  }
}

/** What grpc-js says of a call that no server has answered. */
function saidBy(cause: unknown): string {
  return cause instanceof Error ? cause.message : "";
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return printable(line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line);
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
