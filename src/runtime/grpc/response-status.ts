import type { OutgoingHttpHeaders } from "node:http2";
import { toUSVString } from "node:util";
import { binaryValue } from "../call/response-fields.ts";
import { status } from "../error/error-codes.ts";
import { reportedError, retryAfter, type ServiceError } from "../error/service-error.ts";
import {
  encodeStatusDetails,
  MAX_DETAILS_BYTES,
  MAX_MESSAGE_CHARACTERS,
  STATUS_DETAILS_HEADER,
} from "../error/status-details.ts";

const MAX_ENCODED_MESSAGE = 2048;

const STATUS_HEADER = "grpc-status";
const MESSAGE_HEADER = "grpc-message";
/** Clients that retry by their own policy wait for this time first (gRPC's A6). */
const PUSHBACK_HEADER = "grpc-retry-pushback-ms";

/** The trailers of a successful call. */
export const OK_TRAILERS: OutgoingHttpHeaders = Object.freeze({ [STATUS_HEADER]: status.OK });

/** Cached for errors that many calls share, which are frozen. */
const shared = new WeakMap<ServiceError, Map<string | undefined, OutgoingHttpHeaders>>();

/**
 * The status of a call that failed, as trailers; with `ErrorInfo` only if there is a domain.
 * INTERNAL has no details, regardless of who threw it.
 */
export function statusTrailers(
  error: ServiceError,
  domain: string | undefined,
): OutgoingHttpHeaders {
  if (!Object.isFrozen(error)) return encodeTrailers(error, domain);
  const known = shared.get(error) ?? new Map<string | undefined, OutgoingHttpHeaders>();
  const trailers = known.get(domain) ?? Object.freeze(encodeTrailers(error, domain));
  shared.set(error, known.set(domain, trailers));
  return trailers;
}

function encodeTrailers(thrown: ServiceError, domain: string | undefined): OutgoingHttpHeaders {
  const error = reportedError(thrown);
  const trailers: OutgoingHttpHeaders = {
    [STATUS_HEADER]: error.grpcStatus,
    [MESSAGE_HEADER]: encodedMessage(error.message),
    [STATUS_DETAILS_HEADER]: binaryValue(encodeStatusDetails(error, domain, MAX_DETAILS_BYTES)),
  };
  const { retryAfterSeconds } = error;
  if (retryAfterSeconds !== undefined) {
    trailers["retry-after"] = retryAfter(error);
    trailers[PUSHBACK_HEADER] = String(Math.ceil(Math.max(0, retryAfterSeconds) * 1000));
  }
  return trailers;
}

/**
 * Percent-encoded, as in gRPC, and limited by its encoded length: one character may become twelve.
 */
function encodedMessage(message: string): string {
  // A lone surrogate would make encodeURI throw.
  const text = toUSVString(message.slice(0, MAX_MESSAGE_CHARACTERS));
  const whole = encodeURI(text);
  if (whole.length <= MAX_ENCODED_MESSAGE) return whole;
  let encoded = "";
  for (const character of text) {
    const next = encodeURI(character);
    if (encoded.length + next.length > MAX_ENCODED_MESSAGE) break;
    encoded += next;
  }
  return encoded;
}
