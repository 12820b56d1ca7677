import { Metadata } from "@grpc/grpc-js";
import { REQUEST_ID_HEADER } from "../call/request-id.ts";

/** What the protocol itself says in headers, and what HTTP/2 forbids: no handler sets those. */
const RESERVED =
  /^(:|grpc-|(content-type|content-length|connection|transfer-encoding|keep-alive|upgrade|te)$)/;
const BINARY_SUFFIX = "-bin";

/**
 * The metadata that a response begins with.
 *
 * @param own what the handler set
 * @throws Error for a header of the handler that is none
 */
export function initialMetadata(
  requestId: string,
  own: ReadonlyMap<string, string> | undefined,
): Metadata {
  const metadata = new Metadata();
  if (own !== undefined) {
    for (const [name, value] of own) {
      if (RESERVED.test(name)) continue;
      metadata.set(name, name.endsWith(BINARY_SUFFIX) ? Buffer.from(value, "base64") : value);
    }
  }
  metadata.set(REQUEST_ID_HEADER, requestId);
  return metadata;
}
