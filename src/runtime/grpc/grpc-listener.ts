import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { Logger } from "../operation/logger.ts";
import { Handshakes } from "../tls/handshakes.ts";
import { ServerTls } from "../tls/server-tls.ts";
import type { GrpcServerConfig } from "./grpc-server-options.ts";

/** What takes the connections of a gRPC server. */
export interface GrpcListener {
  readonly server: Server;
  /** Ends the connections on which no call can be under way yet. */
  closeHandshakes(): void;
}

/**
 * Takes connections, and hands them on once they are secured, where the configuration has
 * certificates. grpc-js then sees plain connections: its own way with certificates has no
 * place for their renewal, the least version of TLS, or the time of a handshake.
 *
 * @param accept is given each connection that calls may come in on
 * @throws StartUpError with all that is wrong with the certificates
 */
export function grpcListener(
  config: GrpcServerConfig["tls"],
  accept: (socket: Socket) => void,
  logger?: Logger,
): GrpcListener {
  if (config === undefined)
    return { server: createServer(accept), closeHandshakes: () => undefined };
  const tls = new ServerTls("server.grpc.tls", config, logger);
  const options = { ...tls.context, ...tls.handshake, ALPNProtocols: ["h2"], noDelay: true };
  const server = createTlsServer(options, accept);
  const handshakes = new Handshakes(server);
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.once("listening", () => {
    const end = tls.follow((context) => server.setSecureContext(context));
    server.once("close", end);
  });
  return { server, closeHandshakes: () => handshakes.close() };
}
