import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TransportLimits } from "../exchange/server-state.ts";

/** What hears of the requests of HTTP/1. */
export interface Http1Listener {
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  /** Is notified of what cannot be read as a request. */
  readonly onMalformed: (error: NodeJS.ErrnoException, socket: Socket) => void;
}

/**
 * Node's HTTP server, which reads requests and does nothing else: it does not listen, it is given its
 * connections by `emit("connection", socket)`. Only between `emit("listening")` and its end Node
 * looks after the time that their headers take.
 */
export function createHttp1Server(limits: TransportLimits, listener: Http1Listener): Server {
  const server = createServer({
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkingIntervalMs,
    insecureHTTPParser: false,
    // Node would answer without a body; the dispatcher refuses what has no host.
    requireHostHeader: false,
  });
  // Node would drop headers past its limit without a word; too many are refused instead.
  server.maxHeadersCount = 0;
  server.on("request", listener.onRequest);
  // The body is asked for only once it is wanted; another expectation is refused in our form.
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
 * all the same, and Node 24 reports it as an error, though nothing is wrong. The parser gets it when it goes on.
 *
 * @returns whether the error is that
 */
function putBack(error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Duplex): boolean {
  if (error.code !== "HPE_PAUSED" || error.rawPacket === undefined) return false;
  // Behind what was put back before, which `unshift` would not do.
  socket.push(error.rawPacket);
  return true;
}
