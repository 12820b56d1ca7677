import type { IncomingMessage } from "node:http";
import type { CallHeaders } from "../../call/call-headers.ts";
import { invalidArgument, ServiceError } from "../../error/service-error.ts";

/** A name or an address, optionally with a port: no user, no path, no second host. */
const HOST = /^(?:\[[\w:.%-]+\]|[\w.~%-]*)(?::\d*)?$/;

/**
 * Refuses requests that HTTP itself forbids, before any route: Node would respond without a body,
 * or use the first of two hosts, while another program in between may use the second (RFC 9112,
 * sections 3.2 and 6.1; RFC 9110, section 10.1.1). The next program could parse an invalid host
 * differently.
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
  // The HTTP/1 parser accepts other numbers, too.
  if (incoming.httpVersionMajor !== (isMultiplexed ? 2 : 1)) {
    throw invalidArgument("the request must have the version HTTP/1.0 or HTTP/1.1");
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
 * Node accepts chunked bodies with further encodings, and also from a client whose HTTP version has
 * no chunks: another program in between may have read another body (RFC 9112, section 6.1).
 */
function checkTransferEncoding({ headers, httpVersion }: IncomingMessage): void {
  const encoding = headers["transfer-encoding"];
  if (encoding === undefined) return;
  if (httpVersion === "1.0") throw invalidArgument("HTTP/1.0 has no Transfer-Encoding");
  if (encoding.trim().toLowerCase() !== "chunked") {
    throw invalidArgument("the only supported Transfer-Encoding is chunked");
  }
}
