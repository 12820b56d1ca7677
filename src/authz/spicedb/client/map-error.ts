import { type AskedServer, titleOf, whyUnreachable } from "../../engine/asked-server.ts";
import { AuthzError, type AuthzErrorCode } from "../../engine/authz-error.ts";

/** What gRPC reports of a failed call; the class of grpc-js is not needed for it. */
export interface GrpcFailure {
  readonly code: number;
  readonly details: string;
}

/** Of gRPC's status codes, by number. */
const CODES: Readonly<Record<number, AuthzErrorCode>> = {
  // It cannot decide now: also how it reports that its datastore is down.
  2: "UNAVAILABLE",
  3: "INVALID_ARGUMENT",
  4: "DEADLINE_EXCEEDED",
  // The request is valid in our model, so SpiceDB's schema is missing or differs.
  5: "FAILED_PRECONDITION",
  6: "ALREADY_EXISTS",
  // Our own credentials are refused: no decision is possible, and the caller cannot change that.
  7: "UNAVAILABLE",
  8: "RESOURCE_EXHAUSTED",
  9: "FAILED_PRECONDITION",
  // The transaction was rolled back, and may succeed on a retry.
  10: "UNAVAILABLE",
  11: "OUT_OF_RANGE",
  12: "UNIMPLEMENTED",
  13: "UNAVAILABLE",
  14: "UNAVAILABLE",
  15: "UNAVAILABLE",
  16: "UNAVAILABLE",
};

const DEPTH_EXCEEDED = /exceeded the allowable maximum depth|max depth exceeded/i;
/** SpiceDB 1.54 cannot look up resources where `self` is below an intersection or exclusion. */
const LOOKUP_OF_SELF = /SELF_ENTRYPOINT/;
/** The call never left this process: even a write may be retried. */
const NEVER_SENT = /^(No connection established|Name resolution failed)/;
/** The texts of grpc-js where no server has answered; SpiceDB's own texts may look like those of a connection. */
const UNANSWERED =
  /^(No connection established|Name resolution failed|No addresses resolved|Connection dropped|(connect|read|write) E[A-Z]+)/;
const [PERMISSION_DENIED, ABORTED, UNAUTHENTICATED] = [7, 10, 16];
/** The log has no more of what SpiceDB says. */
const MAX_DETAILS = 500;

/** Whether a thrown value is a failure of a gRPC call. */
export function isGrpcFailure(error: unknown): error is GrpcFailure {
  return (
    error instanceof Error &&
    typeof (error as Partial<GrpcFailure>).code === "number" &&
    typeof (error as Partial<GrpcFailure>).details === "string"
  );
}

/** Whether the call certainly had no effect, so that a write may be retried. */
export function didNothing({ code, details }: GrpcFailure): boolean {
  return code === ABORTED || (code === 14 && NEVER_SENT.test(details));
}

/** Whom an engine asks, and with what. */
export interface AskedSpicedb {
  readonly server: AskedServer;
  /** The preshared key; never in a message, from any source. */
  readonly token: string;
}

/**
 * A failed call in the codes that all engines share.
 *
 * If it says nothing about the request, the message is in our own words, since `/readyz` shows it: that of
 * SpiceDB may name users and databases, and is only the cause, for the log.
 */
export function mapGrpcError(failure: GrpcFailure, { server, token }: AskedSpicedb): AuthzError {
  const code = codeOf(failure);
  if (code === "DEADLINE_EXCEEDED") return new AuthzError(code, "the deadline has passed");
  // SpiceDB's message for an internal error includes the stack.
  const [first = ""] = failure.details.split("\n");
  const details = token === "" ? first : first.replaceAll(token, "[secret]");
  if (code !== "UNAVAILABLE") return new AuthzError(code, `SpiceDB: ${details || "no details"}`);
  const said = `gRPC status ${failure.code}: ${details.slice(0, MAX_DETAILS)}`;
  return new AuthzError(code, whyUnavailable(failure, server), { cause: new Error(said) });
}

function whyUnavailable({ code, details }: GrpcFailure, server: AskedServer): string {
  switch (code) {
    case PERMISSION_DENIED:
    case UNAUTHENTICATED:
      return `${titleOf(server)} does not accept the preshared key: correct ${server.keys.token}`;
    case ABORTED:
      return `${titleOf(server)} has rolled back, since other writes are in conflict: repeat the call`;
    default:
      return UNANSWERED.test(details)
        ? whyUnreachable(server, details)
        : `${titleOf(server)} cannot answer now: look at its log, and at its database`;
  }
}

function codeOf({ code, details }: GrpcFailure): AuthzErrorCode {
  if (DEPTH_EXCEEDED.test(details)) return "FAILED_PRECONDITION";
  if (LOOKUP_OF_SELF.test(details)) return "UNIMPLEMENTED";
  // The caller's own cancellation is reported by its signal, so this one is the server's.
  if (code === 1) return "UNAVAILABLE";
  return CODES[code] ?? "INTERNAL";
}
