import type { OutgoingHttpHeaders } from "node:http2";
import { FRAMING_HEADERS } from "../call/framing-headers.ts";
import { REQUEST_ID_HEADER } from "../call/request-id.ts";
import type { ResponseMetadata } from "../call/response-fields.ts";
import type { CodecName } from "../rpc/rpc-exchange.ts";
import { ENCODING_NAMES } from "../wire/message-encoding.ts";

/** The header that names how the messages of its direction are compressed. */
export const ENCODING_HEADER = "grpc-encoding";
/** The header that names what its sender understands. */
export const ACCEPT_ENCODING_HEADER = "grpc-accept-encoding";

const ACCEPTED_ENCODINGS = ENCODING_NAMES.join(",");

/** What the protocol itself says in headers: no handler sets those. */
const RESERVED = new RegExp(`^(:|grpc-|(${FRAMING_HEADERS.join("|")})$)`);
const CONTENT_TYPES = { proto: "application/grpc+proto", json: "application/grpc+json" } as const;
const BINARY_SUFFIX = "-bin";

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

/** What the handler set, as it is sent. The call has refused what is no metadata. */
export function ownMetadata(own: ResponseMetadata): OutgoingHttpHeaders {
  const metadata: OutgoingHttpHeaders = {};
  for (const [name, value] of own) {
    if (RESERVED.test(name) || name === REQUEST_ID_HEADER) continue;
    metadata[name] =
      typeof value === "string" ? sentAs(name, value) : value.map((each) => sentAs(name, each));
  }
  return metadata;
}

/** Clients fail at a binary value that is no base64. */
function sentAs(name: string, value: string): string {
  return name.endsWith(BINARY_SUFFIX) ? binaryValue(Buffer.from(value, "base64")) : value;
}

/** A binary value as gRPC has it sent: in base64 without padding. */
export function binaryValue(bytes: Uint8Array): string {
  const { buffer, byteOffset, length } = bytes;
  return Buffer.from(buffer, byteOffset, length).toString("base64").replace(/=+$/, "");
}
