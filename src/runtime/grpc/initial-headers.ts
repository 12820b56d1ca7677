import type { OutgoingHttpHeaders } from "node:http2";
import { REQUEST_ID_HEADER } from "../call/request-id.ts";
import { ACCEPT_ENCODING_HEADER, ACCEPTED_ENCODINGS, ENCODING_HEADER } from "./message-encoding.ts";

/** What the protocol itself says in headers, and what HTTP/2 forbids: no handler sets those. */
const RESERVED =
  /^(:|grpc-|(content-type|content-length|connection|transfer-encoding|keep-alive|upgrade|te)$)/;

/**
 * The headers that a response begins with.
 *
 * @param own what the handler set
 * @param gzip whether messages may come compressed
 */
export function initialHeaders(
  requestId: string,
  own: ReadonlyMap<string, string> | undefined,
  gzip: boolean,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    ":status": 200,
    "content-type": "application/grpc+proto",
    [ACCEPT_ENCODING_HEADER]: ACCEPTED_ENCODINGS,
    [REQUEST_ID_HEADER]: requestId,
  };
  if (gzip) headers[ENCODING_HEADER] = "gzip";
  if (own !== undefined) {
    for (const [name, value] of own) if (!RESERVED.test(name)) headers[name] = value;
  }
  return headers;
}
