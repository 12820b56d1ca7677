import type { Call } from "../../call/call.ts";
import { errorCodeOf } from "../../error/error-codes.ts";
import { ServiceError } from "../../error/service-error.ts";
import { toServiceError } from "../../error/to-service-error.ts";
import type { RawRequest, RawResponse } from "./raw-handler.ts";
import type { Written } from "./written-bytes.ts";

/** A request whose handler has answered. */
export interface AnsweredRequest extends RawRequest {
  /** What of a body the handler writes itself; undefined if it does not use the response. */
  readonly written: Written | undefined;
  /** What it has given to `nameCause`. */
  readonly namedCause: unknown;
}

/** Records how a raw handler has answered: a status from 400 on is an error, as if it had thrown it. */
export function recordAnswer(
  call: Call,
  request: AnsweredRequest,
  answer: RawResponse | undefined,
): void {
  const status = answer?.status ?? request.response.statusCode;
  if (answer === undefined && hasBody(request.method, status)) countBytes(call, request);
  const { namedCause } = request;
  if (namedCause !== undefined) call.namedFailure = toServiceError(namedCause);
  recordStatus(call, status);
}

function recordStatus(call: Call, status: number): void {
  call.responseStatus = status;
  // Others cannot be sent, which is an error of its own; and as keys of UNNAMED they would never end.
  const isError = Number.isInteger(status) && status >= 400 && status <= 599;
  // An interceptor may have called the handler before.
  call.answeredError = isError ? errorOf(status, call.namedFailure) : undefined;
}

/**
 * Records the response that is sent, which an interceptor may have returned in place of the handler's, or
 * without it. A response that a handler has written itself is the one that is sent.
 */
export function recordReplacement(call: Call, answer: unknown): void {
  const request = call.request as AnsweredRequest | undefined;
  if (request?.written !== undefined && request.response.headersSent) return;
  const { status } = (answer ?? {}) as Partial<RawResponse>;
  // Without one it cannot be sent, which is an error of its own.
  if (status !== undefined) recordStatus(call, status);
}

/** Whether Node sends the body of a response. */
function hasBody(method: string | undefined, status: number): boolean {
  return method !== "HEAD" && status !== 204 && status !== 304;
}

/** Counts what a handler writes itself, also what a library writes after the handler has returned. */
function countBytes(call: Call, { response, written }: AnsweredRequest): void {
  if (written === undefined) return;
  call.responseBytes = written.bytes;
  if (!response.headersSent || response.writableEnded || written.isOver) return;
  call.whenSent = (sent) => {
    const over = () => {
      call.responseBytes = written.bytes;
      sent();
    };
    if (written.isOver) over();
    else written.onOver = over;
  };
}

function errorOf(status: number, failure: ServiceError | undefined): ServiceError {
  if (failure === undefined) return unnamed(status);
  return new ServiceError(errorCodeOf(status), undefined, causeOf(failure), status);
}

function causeOf(failure: ServiceError): { readonly cause: unknown } {
  return { cause: failure.cause ?? failure };
}

/** Errors of which nothing but the status is known. There are few, and many calls may end with them. */
const UNNAMED = new Map<number, ServiceError>();

function unnamed(status: number): ServiceError {
  const known = UNNAMED.get(status);
  if (known !== undefined) return known;
  const cause = { message: `the handler answered with the status ${status} and named no cause` };
  const error = new ServiceError(errorCodeOf(status), undefined, { cause }, status);
  UNNAMED.set(status, error);
  return error;
}
