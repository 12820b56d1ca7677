/** The status codes of gRPC, by the names of its specification. */
export const status = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/** The status that an HTTP status without an own code maps to. */
export function grpcStatusOf(httpStatus: number): number {
  switch (httpStatus) {
    case 401:
      return status.UNAUTHENTICATED;
    case 403:
      return status.PERMISSION_DENIED;
    case 404:
      return status.NOT_FOUND;
    case 409:
      return status.ALREADY_EXISTS;
    case 412:
      return status.FAILED_PRECONDITION;
    case 413:
    case 429:
      return status.RESOURCE_EXHAUSTED;
    case 499:
      return status.CANCELLED;
    case 501:
      return status.UNIMPLEMENTED;
    case 503:
      return status.UNAVAILABLE;
    case 504:
      return status.DEADLINE_EXCEEDED;
    default:
      return httpStatus >= 500 ? status.INTERNAL : status.INVALID_ARGUMENT;
  }
}

/** The codes of errors, with their HTTP and gRPC status and default message (docs/requirements.md, ERR-1). */
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
  CANCELLED: { http: 499, grpc: status.CANCELLED, message: "the caller has cancelled" },
  INTERNAL: { http: 500, grpc: status.INTERNAL, message: "internal error" },
  UNIMPLEMENTED: { http: 501, grpc: status.UNIMPLEMENTED, message: "unimplemented" },
  UNAVAILABLE: { http: 503, grpc: status.UNAVAILABLE, message: "unavailable" },
  DEADLINE_EXCEEDED: { http: 504, grpc: status.DEADLINE_EXCEEDED, message: "deadline exceeded" },
} as const satisfies Record<string, { http: number; grpc: number; message: string }>;

/** Each code by its HTTP status, of which it is the only one. */
const BY_HTTP_STATUS: ReadonlyMap<number, ErrorCode> = new Map(
  Object.entries(ERROR_CODES).map(([code, { http }]) => [http, code as ErrorCode]),
);

/** The code of an HTTP status from 400 on that was chosen without one. */
export function errorCodeOf(httpStatus: number): ErrorCode {
  const known = BY_HTTP_STATUS.get(httpStatus);
  return known ?? (httpStatus >= 500 ? "INTERNAL" : "INVALID_ARGUMENT");
}

/** A code that the platform itself uses, with one HTTP and one gRPC status (docs/requirements.md, ERR-1). */
export type ErrorCode = keyof typeof ERROR_CODES;
