import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TransportLimits } from "../exchange/server-state.ts";

/** The listeners of the HTTP/1 server. */
export interface Http1Listener {
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  /** Called for input that cannot be parsed as a request. */
  readonly onMalformed: (error: NodeJS.ErrnoException, socket: Socket) => void;
}

/**
 * Node's HTTP server, used only to parse requests: it does not listen, but gets its connections by
 * `emit("connection", socket)`. Node enforces the timeout of headers only between
 * `emit("listening")` and its end.
 */
export function createHttp1Server(limits: TransportLimits, listener: Http1Listener): Server {
  const server = createServer({
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkingIntervalMs,
    insecureHTTPParser: false,
    // Node would respond without a body; the dispatcher refuses requests without a host.
    requireHostHeader: false,
  });
  // Node would silently drop headers past its limit; too many are refused instead.
  server.maxHeadersCount = 0;
  server.on("request", listener.onRequest);
  // 100-continue is sent only when the body is read; other expectations are refused with our error
  // form.
  server.on("checkContinue", listener.onRequest);
  server.on("checkExpectation", listener.onRequest);
  server.on("clientError", (error, socket: Duplex) => {
    if (!putBack(error, socket)) listener.onMalformed(error, socket as Socket);
  });
  return server;
}

/**
 * Puts bytes back that Node could not parse because its parser was paused. Node pauses it while a
 * response waits for the client. Over TLS, a body that was decrypted together with its head comes to it
 * all the same, and Node 24 reports it as an error, though nothing is wrong. The parser gets it when it continues.
 *
 * @returns whether the error is that
 */
function putBack(error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Duplex): boolean {
  if (error.code !== "HPE_PAUSED" || error.rawPacket === undefined) return false;
  // After what was put back before, which `unshift` would not do.
  socket.push(error.rawPacket);
  return true;
}
