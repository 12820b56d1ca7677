import { status } from "./grpc-status.ts";

/** The codes of errors (spec 7, and what design.md adds), with their HTTP and gRPC status and default message. */
export const ERROR_CODES = {
  INVALID_ARGUMENT: { http: 400, grpc: status.INVALID_ARGUMENT, message: "invalid argument" },
  UNAUTHORIZED: { http: 401, grpc: status.UNAUTHENTICATED, message: "unauthorized" },
  FORBIDDEN: { http: 403, grpc: status.PERMISSION_DENIED, message: "permission denied" },
  RESOURCE_NOT_FOUND: { http: 404, grpc: status.NOT_FOUND, message: "resource not found" },
  METHOD_NOT_ALLOWED: { http: 405, grpc: status.UNIMPLEMENTED, message: "method not allowed" },
  ALREADY_EXISTS: { http: 409, grpc: status.ALREADY_EXISTS, message: "already exists" },
  FAILED_PRECONDITION: {
    http: 412,
    grpc: status.FAILED_PRECONDITION,
    message: "failed precondition",
  },
  PAYLOAD_TOO_LARGE: { http: 413, grpc: status.RESOURCE_EXHAUSTED, message: "payload too large" },
  UNSUPPORTED_MEDIA_TYPE: {
    http: 415,
    grpc: status.INVALID_ARGUMENT,
    message: "unsupported media type",
  },
  RATE_LIMITED: { http: 429, grpc: status.RESOURCE_EXHAUSTED, message: "rate limited" },
  CANCELLED: { http: 499, grpc: status.CANCELLED, message: "the caller has gone" },
  INTERNAL: { http: 500, grpc: status.INTERNAL, message: "internal error" },
  UNIMPLEMENTED: { http: 501, grpc: status.UNIMPLEMENTED, message: "unimplemented" },
  UNAVAILABLE: { http: 503, grpc: status.UNAVAILABLE, message: "unavailable" },
  DEADLINE_EXCEEDED: { http: 504, grpc: status.DEADLINE_EXCEEDED, message: "deadline exceeded" },
} as const satisfies Record<string, { http: number; grpc: number; message: string }>;

/** A code that the platform itself uses. */
export type ErrorCode = keyof typeof ERROR_CODES;
