import { type StatusObject, status } from "@grpc/grpc-js";
import { ERROR_CODES, type ErrorCode } from "../../error/error-codes.ts";
import { ServiceError, type ServiceErrorOptions } from "../../error/service-error.ts";
import {
  decodeStatusDetails,
  STATUS_DETAILS_HEADER,
  type StatusDetails,
} from "../../error/status-details.ts";
import { CODE_OF_STATUS, markUnsent, tlsFailure } from "../call/call-failure.ts";

/** The text of grpc-js for a message over the limit, which has no code of its own. */
const TOO_LARGE = /^Received message (larger than|that decompresses)/;
const UNREADABLE =
  "the response has an encoding that this client does not support, or does not name its encoding";
/** The text of grpc-js if no server responded. */
const UNANSWERED =
  /^(No connection established|Connection dropped$|Name resolution failed|Deadline exceeded after \d|(connect|read|write) E[A-Z]+)/;
const REASON = /^[A-Z][A-Z0-9_]{0,127}$/;

/** Whether grpc-js made an error of a status. */
export function isGrpcError(error: unknown): error is Error & StatusObject {
  return error instanceof Error && "code" in error && "metadata" in error;
}

/** The error of a failed call, with the code, message and details that the server gave. */
export function toClientError(error: Error & StatusObject, wasSent: boolean): ServiceError {
  const [encoded] = error.metadata?.get(STATUS_DETAILS_HEADER) ?? [];
  const info = encoded instanceof Uint8Array ? decodeStatusDetails(encoded) : undefined;
  const options = optionsOf(error, info, isAnswer(error, info, wasSent));
  if (typeof error.code !== "number") {
    // It has no status for failed decompression.
    return new ServiceError("INTERNAL", UNREADABLE, options);
  }
  const code = codeOf(error.code, info);
  if (info?.reason === undefined && TOO_LARGE.test(error.details)) {
    return new ServiceError(
      "INTERNAL",
      "the response is larger than the limit of this client",
      options,
    );
  }
  if (code in ERROR_CODES) {
    // The text of grpc-js for a network failure contains addresses, so it is only the cause.
    const message =
      info?.reason === undefined && code === "UNAVAILABLE"
        ? tlsFailure(error.details)
        : error.details;
    const reported = new ServiceError(code as ErrorCode, message || undefined, options);
    return wasSent ? reported : markUnsent(reported);
  }
  const http = ERROR_CODES[CODE_OF_STATUS[error.code] ?? "INTERNAL"].http;
  return ServiceError.of(http, code, error.details, options);
}

function codeOf(grpcStatus: number, info: StatusDetails | undefined): string {
  const reason = info?.reason;
  return reason !== undefined && REASON.test(reason)
    ? reason
    : (CODE_OF_STATUS[grpcStatus] ?? "INTERNAL");
}

/**
 * Whether a server responded; only relevant for these two codes, and a refusal always counts as a
 * server's.
 */
function isAnswer(
  { code, details }: StatusObject,
  info: StatusDetails | undefined,
  wasSent: boolean,
): boolean {
  if (code !== status.UNAVAILABLE && code !== status.DEADLINE_EXCEEDED) return true;
  return info !== undefined || (wasSent && !UNANSWERED.test(details));
}

function optionsOf(
  error: Error,
  info: StatusDetails | undefined,
  isRemote: boolean,
): ServiceErrorOptions {
  const hasDetails = info !== undefined && Object.keys(info.metadata).length > 0;
  const { code } = error as Partial<StatusObject>;
  return {
    cause: error,
    isRemote,
    // The status of the server, even if several have the same code here.
    ...(code !== undefined && code > status.OK && code <= status.UNAUTHENTICATED
      ? { grpcStatus: code }
      : {}),
    ...(hasDetails ? { details: { ...info.metadata } } : {}),
    ...(info === undefined ? {} : { statusDetails: info.details }),
    ...(info?.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: info.retryAfterSeconds }),
  };
}
