import type { ServerResponse } from "node:http";
import type { RequestUnderWay } from "./request-under-way.ts";

/**
 * Sends the status and the headers of a response, with those that each response has.
 *
 * @param hasRest whether the request has a body that nobody will read
 * @throws Error if Node does not send them; none of them remain then
 */
export function sendHead(
  request: RequestUnderWay,
  status: number,
  headers: string[],
  hasRest: boolean,
): void {
  addCommon(request, headers, hasRest);
  try {
    request.response.writeHead(status, headers);
  } catch (error) {
    discardHeaders(request.response);
    throw error;
  }
}

function addCommon(request: RequestUnderWay, headers: string[], hasRest: boolean): void {
  const requestId = request.shownRequestId ?? request.requestId;
  headers.push("X-Request-ID", requestId, "X-Content-Type-Options", "nosniff");
  const cors = request.state.cors.responseHeaders(request.headers, request.exposed);
  if (cors.length > 0) addVarying(headers, cors);
  if (request.connection.isMultiplexed) return;
  if (hasRest || request.endsConnection) {
    headers.push("Connection", "close");
    request.connection.isClosing = true;
  }
}

/** Removes the headers that were set for a response that has not begun. */
export function discardHeaders(response: ServerResponse): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  // Node keeps the reason phrase of a status that it could not send.
  response.statusMessage = "";
}

/** Adds headers that begin with `Vary: Origin`: a response may vary by more than the origin. */
function addVarying(headers: string[], cors: readonly string[]): void {
  const own = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "vary");
  if (own < 0) headers.push(...cors);
  else {
    headers[own + 1] = `${headers[own + 1]}, Origin`;
    headers.push(...cors.slice(2));
  }
}
