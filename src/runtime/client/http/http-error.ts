import type { IncomingHttpHeaders } from "node:http";
import { ERROR_CODES, type ErrorCode } from "../../error/error-codes.ts";
import { ServiceError, type ServiceErrorOptions } from "../../error/service-error.ts";
import { CODE_OF_STATUS, markUnsent, tlsFailure } from "../call/call-failure.ts";

const REASON = /^[A-Z][A-Z0-9_]{0,127}$/;

/** The code of a status whose server gave none of its own, such as a proxy's. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "RESOURCE_NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  409: "ALREADY_EXISTS",
  412: "FAILED_PRECONDITION",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  429: "RATE_LIMITED",
  499: "CANCELLED",
  501: "UNIMPLEMENTED",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

/** What is read of an error's body (docs/requirements.md, ERR-2). */
interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The error of a status and a body. */
export function errorOf(
  httpStatus: number,
  body: unknown,
  headers: IncomingHttpHeaders,
): ServiceError {
  const seconds = retryAfterSeconds(headers["retry-after"]);
  const retry = {
    isRemote: true,
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
  };
  if (!isErrorBody(body)) {
    const reported = isObject(body) ? statusBodyOf(body) : undefined;
    if (reported !== undefined)
      return new ServiceError(reported.code, reported.message || undefined, retry);
    const code = CODES[httpStatus] ?? (httpStatus >= 500 ? "INTERNAL" : "INVALID_ARGUMENT");
    return new ServiceError(code, undefined, retry);
  }
  const options: ServiceErrorOptions = {
    ...retry,
    ...(body.details === undefined ? {} : { details: body.details }),
  };
  return body.code in ERROR_CODES
    ? new ServiceError(body.code as ErrorCode, body.message, options)
    : ServiceError.of(httpStatus, body.code, body.message, options);
}

/** The error of the last line of a stream; undefined if the line is a message. */
export function streamErrorOf(line: unknown): ServiceError | undefined {
  if (!isObject(line) || Object.keys(line).length !== 1 || !isErrorBody(line["error"])) {
    return undefined;
  }
  const { status, request_id: requestId } = line["error"];
  // A message may have a field "error" too, but JSON names have no underscore.
  if (typeof requestId !== "string") return undefined;
  if (!Number.isInteger(status) || Number(status) < 400 || Number(status) > 599) return undefined;
  return errorOf(Number(status), line["error"], {});
}

/** The error of a connection that failed. */
export function networkError(error: Error): ServiceError {
  const { syscall, code = "" } = error as NodeJS.ErrnoException;
  const message = tlsFailure(`${code} ${error.message}`);
  const reported = new ServiceError("UNAVAILABLE", message, { cause: error });
  return syscall === "connect" || syscall === "getaddrinfo" ? markUnsent(reported) : reported;
}

/** Seconds, or a date. */
function retryAfterSeconds(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}

function isErrorBody(body: unknown): body is ErrorBody & Record<string, unknown> {
  if (!isObject(body)) return false;
  const { code, message, details } = body;
  if (typeof code !== "string" || !REASON.test(code) || typeof message !== "string") return false;
  return details === undefined || isObject(details);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is read of a `google.rpc.Status`, which gateways of other makes answer errors with. */
export interface StatusBody {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The error of a `google.rpc.Status` in JSON; undefined if the body is not one. */
function statusBodyOf({ code, message }: Record<string, unknown>): StatusBody | undefined {
  if (typeof code !== "number" || typeof message !== "string") return undefined;
  const known = CODE_OF_STATUS[code];
  return known === undefined ? undefined : { code: known, message };
}
