import { toUSVString } from "node:util";
import type { CallHeaders } from "../../call/call-headers.ts";
import { binaryValue } from "../../call/response-fields.ts";
import { reportedError, retryAfter, ServiceError } from "../../error/service-error.ts";
import {
  errorDetails,
  MAX_DETAILS_BYTES,
  MAX_MESSAGE_CHARACTERS,
} from "../../error/status-details.ts";
import type { CodecName } from "../../rpc/rpc-exchange.ts";
import { envelopeOf, flag } from "../../wire/envelope.ts";
import type { EnvelopedForm } from "../exchange/enveloped-exchange.ts";
import { sentMetadata } from "../exchange/http-exchange.ts";

/** The codes of Connect and their HTTP statuses, by the number of the gRPC status. */
const CODES: readonly (readonly [code: string, httpStatus: number])[] = [
  ["unknown", 500],
  ["canceled", 499],
  ["unknown", 500],
  ["invalid_argument", 400],
  ["deadline_exceeded", 504],
  ["not_found", 404],
  ["already_exists", 409],
  ["permission_denied", 403],
  ["resource_exhausted", 429],
  ["failed_precondition", 400],
  ["aborted", 409],
  ["out_of_range", 400],
  ["unimplemented", 501],
  ["internal", 500],
  ["unavailable", 503],
  ["data_loss", 500],
  ["unauthenticated", 401],
];

/** An error in the form of Connect. */
export interface ConnectError {
  readonly code: string;
  readonly message: string;
  /** Each a message by its full name, in base64. */
  readonly details: readonly {
    readonly type: string;
    readonly value: string;
    /** The decoded form for people, of the usual details. */
    readonly debug?: object;
  }[];
}

/**
 * The part of an error that is sent to a caller; for INTERNAL nothing, regardless of who threw it.
 */
export function connectError(thrown: ServiceError, domain: string | undefined): ConnectError {
  const error = reportedError(thrown);
  const [code] = CODES[error.grpcStatus] as (typeof CODES)[number];
  return {
    code,
    message: toUSVString(error.message.slice(0, MAX_MESSAGE_CHARACTERS)),
    details: errorDetails(error, domain, MAX_DETAILS_BYTES).map(({ typeUrl, value }) => {
      const type = typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
      const debug = error.statusDetails === undefined ? debugOf(type, error, domain) : undefined;
      return { type, value: binaryValue(value), ...(debug && { debug }) };
    }),
  };
}

function debugOf(
  type: string,
  { code, retryAfterSeconds }: ServiceError,
  domain: string | undefined,
): object | undefined {
  if (type === "google.rpc.ErrorInfo") return { reason: code, domain };
  if (type === "google.rpc.RetryInfo") return { retryDelay: `${retryAfterSeconds}s` };
  return undefined;
}

/** The HTTP status of an error, which is Connect's own for its code. */
export function connectStatus({ grpcStatus }: ServiceError): number {
  return (CODES[grpcStatus] as (typeof CODES)[number])[1];
}

/** The header with the protocol version of the client. */
export const VERSION_HEADER = "connect-protocol-version";
/** The header with its timeout in milliseconds. */
const TIMEOUT_HEADER = "connect-timeout-ms";

const TIMEOUT = /^[0-9]{1,10}$/;

/**
 * How long the client of a supported version waits, in milliseconds; undefined if it sends no
 * timeout.
 *
 * @throws ServiceError INVALID_ARGUMENT
 */
export function connectTimeoutOf(headers: CallHeaders): number | undefined {
  const versions = headers.all(VERSION_HEADER);
  if (versions.length > 1 || (versions.length === 1 && versions[0] !== "1")) {
    throw invalid(`${VERSION_HEADER} must be "1"`);
  }
  const timeouts = headers.all(TIMEOUT_HEADER);
  const [timeout] = timeouts;
  if (timeout === undefined) return undefined;
  if (timeouts.length > 1) throw invalid(`${TIMEOUT_HEADER} occurs more than once`);
  if (!TIMEOUT.test(timeout)) throw invalid(`${TIMEOUT_HEADER} must be 1 to 10 digits`);
  return Number(timeout);
}

function invalid(message: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", message);
}

/** The form of streams in Connect. */
function streamForm(codec: CodecName): EnvelopedForm {
  return {
    transport: "connect",
    contentType: `application/connect+${codec}`,
    encodingHeader: "connect-content-encoding",
    acceptHeader: "connect-accept-encoding",
    timeoutOf: connectTimeoutOf,
    last(error, trailers, domain) {
      const metadata: Record<string, readonly string[]> = {};
      for (const [name, values] of sentMetadata(trailers)) metadata[name] = values;
      const seconds = error && retryAfter(error);
      if (seconds !== undefined) metadata["retry-after"] = [seconds];
      const end = { ...(error && { error: connectError(error, domain) }), metadata };
      return envelopeOf(Buffer.from(JSON.stringify(end)), flag.END_STREAM);
    },
  };
}

/** By how the messages are encoded. */
export const STREAM_FORMS: Readonly<Record<CodecName, EnvelopedForm>> = {
  proto: streamForm("proto"),
  json: streamForm("json"),
};
