import { COUNTED_FROM_BYTES } from "../../wire/unread-responses.ts";
import { hasRestToRead } from "./read-body.ts";
import type { RequestUnderWay } from "./request-under-way.ts";
import { sendHead } from "./response-head.ts";
import { guardSending, isTaken, linger } from "./slow-clients.ts";

/**
 * Sends a response whose body is complete, and ends the request.
 *
 * @param length that of the body, in bytes
 * @throws Error if its headers cannot be sent; nothing is sent then
 */
export function sendComplete(
  request: RequestUnderWay,
  status: number,
  headers: string[],
  body: string | Uint8Array,
  length: number,
): void {
  const { response, incoming, connection, state } = request;
  // A stream ends by itself.
  const hasRest = !connection.isMultiplexed && hasRestToRead(incoming);
  sendHead(request, status, headers, hasRest);
  if (hasRest) {
    response.on("error", () => undefined);
    // Without a body Node would send the headers with the end only.
    if (body.length === 0 || incoming.method === "HEAD") response.flushHeaders();
    else response.write(body);
    guard(request, length);
    linger(incoming, state.limits, () => response.end());
    request.leave();
  } else if (connection.isMultiplexed || length >= COUNTED_FROM_BYTES) {
    // A large body counts as unread from here on. HTTP/2 buffers by itself; if the headers were
    // sent separately, a client that gives up might see half of the response.
    sendBody(request, body, length);
  } else state.turn.atEnd(() => sendBody(request, body, length));
}

function sendBody(request: RequestUnderWay, body: string | Uint8Array, length: number): void {
  try {
    request.response.end(body, encodingOf(request, body, length));
    guard(request, length);
  } finally {
    request.leave();
  }
}

/**
 * How Node encodes a text: as Latin-1 where that gives the same bytes as UTF-8, since Node then does
 * not count them again. Node encodes the headers likewise, and those of a handler may have other
 * characters.
 */
function encodingOf(
  request: RequestUnderWay,
  body: string | Uint8Array,
  length: number,
): "latin1" | "utf8" {
  const hasOwnHeaders = request.hasHandlerHeaders || request.call?.responseHeaders !== undefined;
  return body.length === length && !hasOwnHeaders ? "latin1" : "utf8";
}

/** @param bytes what was written: the whole response */
function guard(request: RequestUnderWay, bytes: number): void {
  if (isTaken(request, bytes)) return;
  guardSending(request, bytes, request.state.limits.sendTimeoutMs);
}
