import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { newRequestId } from "../../call/call-ids.ts";
import type { UnroutedObserver } from "../../chain/call-stages.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { Connection } from "../exchange/connections.ts";
import { errorBody } from "../exchange/error-body.ts";

/**
 * Responds to input that Node could not parse as a request, and closes the connection: after a
 * malformed request the borders of requests are unknown (request smuggling).
 */
export function answerMalformed(
  error: NodeJS.ErrnoException & { readonly rawPacket?: Buffer },
  socket: Socket,
  connection: Connection,
  onUnrouted: UnroutedObserver,
): void {
  // The client has announced its last request. Further data is ignored, and Node closes the
  // connection after the response (RFC 9112, section 9.6).
  if (error.code === "HPE_CLOSED_CONNECTION") return;
  const { active } = connection;
  const isAnswered = connection.isClosing || connection.unfinished?.complete === false;
  if (isAnswered && active.length === 0) {
    // The last response was sent: this is part of a body that nobody reads.
    socket.end(() => socket.destroy());
    return;
  }
  // This response must not be written into another one under way. Only if the failing request is
  // the one being served can it still get a response.
  const [only] = active;
  const isAnswerable =
    only === undefined || (active.length === 1 && only.isReceiving && !only.hasBegun);
  if (error.code === "ECONNRESET" || !socket.writable || !isAnswerable) {
    socket.destroy();
    return;
  }
  const answer = describe(error.code);
  const requestId = only?.requestId ?? newRequestId();
  const isCounted = only?.isCall === true;
  // The call ends with what its client receives, and is counted once.
  only?.lost(answer);
  // A client takes a body after the head of such a response for another response.
  const isHead = only === undefined && error.rawPacket?.toString("latin1", 0, 5) === "HEAD ";
  const [head, body] = format(answer, requestId);
  socket.end(isHead ? head : head + body, () => socket.destroy());
  if (isCounted) return;
  onUnrouted({
    transport: "http",
    httpMethod: "",
    target: "",
    status: answer.status,
    code: answer.code,
    requestId,
    peer: connection.peer,
  });
}

function describe(code: string | undefined): ServiceError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return ServiceError.of(431, "REQUEST_HEADERS_TOO_LARGE", "the headers are too large");
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return new ServiceError("PAYLOAD_TOO_LARGE", "the chunk extensions are too large");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return ServiceError.of(408, "REQUEST_TIMEOUT", "the request took too long to arrive");
    default:
      return new ServiceError("INVALID_ARGUMENT", "the request is malformed");
  }
}

/** The head of the response, and its body. */
function format(error: ServiceError, requestId: string): readonly [string, string] {
  const body = JSON.stringify(errorBody(error, requestId));
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Cache-Control: no-store",
    `X-Request-ID: ${requestId}`,
    "X-Content-Type-Options: nosniff",
    "Connection: close",
    "",
    "",
  ].join("\r\n");
  return [head, body];
}
