import type { IncomingMessage } from "node:http";
import type { CallHeaders } from "../call/call-headers.ts";
import { ServiceError } from "../error/service-error.ts";
import { invalidArgument } from "./invalid-argument.ts";

/**
 * Refuses requests that HTTP itself has refused, before any route: Node would answer
 * them without a body, or take the first of two hosts, which another program on the
 * way may not (RFC 9112, section 3.2; RFC 9110, section 10.1.1).
 *
 * @throws ServiceError INVALID_ARGUMENT, and those of HTTP's own statuses
 */
export function checkHead(
  incoming: IncomingMessage,
  headers: CallHeaders,
  maxHeaders: number,
): void {
  if (incoming.rawHeaders.length > 2 * maxHeaders) {
    throw ServiceError.of(431, "REQUEST_HEADERS_TOO_LARGE", "the request has too many headers");
  }
  if (incoming.httpVersionMajor !== 1) {
    throw invalidArgument("the request must say its version, HTTP/1.0 or HTTP/1.1");
  }
  const hosts = headers.all("host").length;
  if (hosts > 1 || (hosts === 0 && incoming.httpVersion === "1.1")) {
    throw invalidArgument("the request must have one Host header");
  }
  const { expect } = incoming.headers;
  if (expect !== undefined && expect.toLowerCase() !== "100-continue") {
    throw ServiceError.of(417, "EXPECTATION_FAILED", "only 100-continue can be expected");
  }
}
