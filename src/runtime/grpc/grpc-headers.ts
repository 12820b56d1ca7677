import type { OutgoingHttpHeaders } from "node:http2";
import { REQUEST_ID_HEADER } from "../call/call-ids.ts";
import { RESERVED_OF_GRPC } from "../call/reserved-headers.ts";
import { type ResponseMetadata, sentValue } from "../call/response-fields.ts";
import { ServiceError } from "../error/service-error.ts";
import type { CodecName } from "../rpc/rpc-exchange.ts";
import { ENCODING_NAMES } from "../wire/compression.ts";

/** The header that names how the messages of its direction are compressed. */
export const ENCODING_HEADER = "grpc-encoding";
/** The header that names the encodings that its sender supports. */
export const ACCEPT_ENCODING_HEADER = "grpc-accept-encoding";

const ACCEPTED_ENCODINGS = ENCODING_NAMES.join(",");

const CONTENT_TYPES = { proto: "application/grpc+proto", json: "application/grpc+json" } as const;

/**
 * The headers that a response begins with.
 *
 * @param own what the handler set
 */
export function responseHeaders(
  requestId: string,
  codec: CodecName,
  own: ResponseMetadata | undefined,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    ":status": 200,
    "content-type": CONTENT_TYPES[codec],
    [ACCEPT_ENCODING_HEADER]: ACCEPTED_ENCODINGS,
    [REQUEST_ID_HEADER]: requestId,
  };
  if (own !== undefined) Object.assign(headers, ownMetadata(own));
  return headers;
}

/** The headers of the handler in wire form. The call has already refused invalid metadata. */
export function ownMetadata(own: ResponseMetadata): OutgoingHttpHeaders {
  const metadata: OutgoingHttpHeaders = {};
  for (const [name, value] of own) {
    if (RESERVED_OF_GRPC.test(name) || name === REQUEST_ID_HEADER) continue;
    metadata[name] =
      typeof value === "string"
        ? sentValue(name, value)
        : value.map((each) => sentValue(name, each));
  }
  return metadata;
}

/** The header with the client's timeout. */
export const TIMEOUT_HEADER = "grpc-timeout";

const SYNTAX = /^([0-9]{1,8})([HMSmun])$/;

const MILLISECONDS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/**
 * How long the client waits, in milliseconds; undefined if it sends no timeout. A malformed timeout
 * is refused: if it were ignored, the call would have no deadline of the client.
 *
 * @throws ServiceError INVALID_ARGUMENT
 */
export function clientTimeoutOf(values: readonly string[]): number | undefined {
  if (values.length === 0) return undefined;
  if (values.length > 1) {
    throw new ServiceError("INVALID_ARGUMENT", `${TIMEOUT_HEADER} occurs more than once`);
  }
  const match = SYNTAX.exec(values[0] as string);
  if (match === null) {
    throw new ServiceError(
      "INVALID_ARGUMENT",
      `${TIMEOUT_HEADER} must be 1 to 8 digits and one of H, M, S, m, u, n`,
    );
  }
  return Math.ceil(Number(match[1]) * (MILLISECONDS[match[2] as string] as number));
}
