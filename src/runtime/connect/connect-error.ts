import { toUSVString } from "node:util";
import type { ServiceError } from "../error/service-error.ts";
import { toldError } from "../error/told-error.ts";
import { binaryValue } from "../grpc/response-headers.ts";
import { errorDetails, MAX_DETAILS_BYTES, MAX_MESSAGE_CHARACTERS } from "../grpc/status-details.ts";

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
    /** The same for people who read it, of the usual ones. */
    readonly debug?: object;
  }[];
}

/** What a caller is told of an error; of INTERNAL nothing, whoever threw it. */
export function connectError(thrown: ServiceError, domain: string | undefined): ConnectError {
  const error = toldError(thrown);
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
