import type { OutgoingHttpHeaders } from "node:http2";
import { REQUEST_ID_HEADER } from "../call/request-id.ts";
import { ACCEPT_ENCODING_HEADER, ACCEPTED_ENCODINGS } from "./message-encoding.ts";

/** What the protocol itself says in headers, and what HTTP/2 forbids: no handler sets those. */
const RESERVED =
  /^(:|grpc-|(content-type|content-length|connection|proxy-connection|transfer-encoding|keep-alive|upgrade|http2-settings|te)$)/;
const NAME = /^[0-9a-z_.-]+$/;
const BINARY_SUFFIX = "-bin";
/** Printable ASCII, as gRPC has it. */
const VALUE = /^[ -~]*$/;

/**
 * The headers that a response begins with.
 *
 * @param own what the handler set
 * @throws Error for a header of the handler that is none
 */
export function responseHeaders(
  requestId: string,
  own: ReadonlyMap<string, string> | undefined,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    ":status": 200,
    "content-type": "application/grpc+proto",
    [ACCEPT_ENCODING_HEADER]: ACCEPTED_ENCODINGS,
    [REQUEST_ID_HEADER]: requestId,
  };
  if (own !== undefined) Object.assign(headers, ownMetadata(own));
  return headers;
}

/**
 * What the handler set, as it is sent.
 *
 * @throws Error for a header of the handler that is none
 */
export function ownMetadata(own: ReadonlyMap<string, string>): OutgoingHttpHeaders {
  const metadata: OutgoingHttpHeaders = {};
  for (const [name, value] of own) {
    if (!RESERVED.test(name) && name !== REQUEST_ID_HEADER) metadata[name] = valueOf(name, value);
  }
  return metadata;
}

function valueOf(name: string, value: string): string {
  if (!NAME.test(name)) throw new Error(`the response header ${JSON.stringify(name)} is no name`);
  if (name.endsWith(BINARY_SUFFIX)) return Buffer.from(value, "base64").toString("base64");
  if (!VALUE.test(value)) throw new Error(`the response header ${name} is no printable ASCII`);
  return value;
}
