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
 * Known TLS failures, by the error texts of Node, OpenSSL and grpc-js, and how to fix them. Without
 * addresses, since the callers of the caller may see the message.
 */
const FAILURES: readonly (readonly [RegExp, string])[] = [
  [
    /ERR_TLS_CERT_ALTNAME_INVALID/,
    "the server's certificate is for another name: call the server by a name that its certificate has",
  ],
  [/certificate has expired/, "the server's certificate has expired: renew it"],
  [
    /certificate is not yet valid/,
    "the server's certificate is not valid yet: check the clocks of both sides",
  ],
  [
    /unable to verify the first certificate|self[- ]signed certificate|unable to get (local )?issuer certificate|certificate signature failure|unsuitable certificate purpose|unsupported certificate purpose|invalid CA certificate/,
    "the server's certificate is not signed by a CA that this client trusts: set tls.ca to the CA that signed it",
  ],
  [
    /alert certificate required/,
    "the server requires a client certificate: set tls.certificate and tls.key to one that it trusts",
  ],
  [
    /alert (unknown ca|bad certificate|certificate (expired|revoked|unknown)|unsupported certificate)/,
    "the server does not accept this client's certificate: set tls.certificate and tls.key to one that it trusts",
  ],
  [
    /wrong version number/,
    "the server does not use TLS at this address: check the address, or call it without TLS",
  ],
  [
    // grpc-js, when the server ends a connection before HTTP/2 begins, as one with TLS does.
    /Last error: Failed to connect\b/,
    "the server closed the connection before it could be used: check the address, and set tls if the server requires TLS",
  ],
  [
    /alert (protocol version|handshake failure)|unsupported protocol/,
    "client and server have no TLS version or cipher in common: TLS 1.2 or later is required",
  ],
  [
    /no application protocol/,
    "the server does not support this protocol at this address: check the address",
  ],
];

/** How to fix a TLS failure; undefined for other failures. */
export function tlsFailure(said: string): string | undefined {
  return FAILURES.find(([words]) => words.test(said))?.[1];
}
