import { type ConnectionFailure, connectionFailure } from "../../../common/connection-failure.ts";
import { type ErrorCode, status } from "../../error/error-codes.ts";
import type { ServiceError } from "../../error/service-error.ts";

/** The code of an error whose server gave a gRPC status and no code of its own; OK has none. */
export const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  [status.CANCELLED]: "CANCELLED",
  [status.UNKNOWN]: "INTERNAL",
  [status.INVALID_ARGUMENT]: "INVALID_ARGUMENT",
  [status.DEADLINE_EXCEEDED]: "DEADLINE_EXCEEDED",
  [status.NOT_FOUND]: "RESOURCE_NOT_FOUND",
  [status.ALREADY_EXISTS]: "ALREADY_EXISTS",
  [status.PERMISSION_DENIED]: "FORBIDDEN",
  [status.RESOURCE_EXHAUSTED]: "RATE_LIMITED",
  [status.FAILED_PRECONDITION]: "FAILED_PRECONDITION",
  [status.ABORTED]: "FAILED_PRECONDITION",
  [status.OUT_OF_RANGE]: "INVALID_ARGUMENT",
  [status.UNIMPLEMENTED]: "UNIMPLEMENTED",
  [status.INTERNAL]: "INTERNAL",
  [status.UNAVAILABLE]: "UNAVAILABLE",
  [status.DATA_LOSS]: "INTERNAL",
  [status.UNAUTHENTICATED]: "UNAUTHORIZED",
};

const unsent = new WeakSet<ServiceError>();

/** Records that nothing of the failed call reached the server. */
export function markUnsent(error: ServiceError): ServiceError {
  unsent.add(error);
  return error;
}

/** Whether certainly nothing reached the server: then any call may be retried. */
export function isUnsent(error: ServiceError): boolean {
  return unsent.has(error);
}

/**
 * How to fix the failures of a connection that the caller's own options cause. Without addresses, since the
 * callers of the caller may see the message; so the others, such as a refused connection, have none.
 */
const FIXES: Readonly<Partial<Record<ConnectionFailure, string>>> = {
  "certificate for another name":
    "the server's certificate is for another name: call the server by a name that its certificate has",
  "certificate expired": "the server's certificate has expired: renew it",
  "certificate not valid yet":
    "the server's certificate is not valid yet: check the clocks of both sides",
  "certificate not trusted":
    "the server's certificate is not signed by a CA that this client trusts: set tls.ca to the CA that signed it",
  "client certificate required":
    "the server requires a client certificate: set tls.certificate and tls.key to one that it trusts",
  "client certificate refused":
    "the server does not accept this client's certificate: set tls.certificate and tls.key to one that it trusts",
  "no TLS there":
    "the server does not use TLS at this address: check the address, or call it without TLS",
  "closed before use":
    "the server closed the connection before it could be used: check the address, and set tls if the server requires TLS",
  "no common TLS version":
    "client and server have no TLS version or cipher in common: TLS 1.2 or later is required",
  "another protocol":
    "the server does not support this protocol at this address: check the address",
};

/** How to fix a TLS failure; undefined for other failures. */
export function tlsFailure(said: string): string | undefined {
  const failure = connectionFailure(said);
  return failure === undefined ? undefined : FIXES[failure];
}
