import type { ErrorCode } from "../error/error-codes.ts";
import { status } from "../error/grpc-status.ts";

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
