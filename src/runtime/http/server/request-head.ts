import type { IncomingMessage } from "node:http";
import type { CallHeaders } from "../../call/call-headers.ts";
import { invalidArgument, ServiceError } from "../../error/service-error.ts";

/** A name or an address, and perhaps a port: no user, no path, no second host. */
const HOST = /^(?:\[[\w:.%-]+\]|[\w.~%-]*)(?::\d*)?$/;

/**
 * Refuses requests that HTTP itself has refused, before any route: Node would answer
 * them without a body, or take the first of two hosts, which another program on the
 * way may not (RFC 9112, sections 3.2 and 6.1; RFC 9110, section 10.1.1). A host that is none
 * could be taken apart differently by whoever looks at it next.
 *
 * @param isMultiplexed whether it came over HTTP/2
 * @throws ServiceError INVALID_ARGUMENT, and those of HTTP's own statuses
 */
export function checkHead(
  incoming: IncomingMessage,
  headers: CallHeaders,
  maxHeaders: number,
  isMultiplexed: boolean,
): void {
  if (incoming.rawHeaders.length > 2 * maxHeaders) {
    throw ServiceError.of(431, "REQUEST_HEADERS_TOO_LARGE", "the request has too many headers");
  }
  // The parser of HTTP/1 takes other numbers, too.
  if (incoming.httpVersionMajor !== (isMultiplexed ? 2 : 1)) {
    throw invalidArgument("the request must say its version, HTTP/1.0 or HTTP/1.1");
  }
  const hosts = headers.all("host");
  if (hosts.length > 1 || (hosts.length === 0 && incoming.httpVersion !== "1.0")) {
    throw invalidArgument("the request must have one Host header");
  }
  if (!hosts.every((host) => HOST.test(host))) {
    throw invalidArgument("the Host header must be a name or an address, with at most a port");
  }
  checkTransferEncoding(incoming);
  const { expect } = incoming.headers;
  if (expect !== undefined && expect.toLowerCase() !== "100-continue") {
    throw ServiceError.of(417, "EXPECTATION_FAILED", "only 100-continue can be expected");
  }
}

/**
 * Node takes what is chunked, whatever else was done to it before, and also from a client
 * that speaks a version without chunks: another program on the way may have read another
 * body (RFC 9112, section 6.1).
 */
function checkTransferEncoding({ headers, httpVersion }: IncomingMessage): void {
  const encoding = headers["transfer-encoding"];
  if (encoding === undefined) return;
  if (httpVersion === "1.0") throw invalidArgument("HTTP/1.0 has no Transfer-Encoding");
  if (encoding.trim().toLowerCase() !== "chunked") {
    throw invalidArgument("the only supported Transfer-Encoding is chunked");
  }
}
