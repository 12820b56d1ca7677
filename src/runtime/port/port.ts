import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import type { Logger } from "../operation/logger.ts";
import { Handshakes } from "../tls/handshakes.ts";
import { ServerTls } from "../tls/server-tls.ts";
import type { TlsConfig } from "../tls/tls-config.ts";
import { ProtocolDetector } from "./protocol-detector.ts";

/** What is spoken on a connection, by its name in ALPN. */
export type Protocol = "h2" | "http/1.1";

/** What takes the connections of a port. */
export interface PortOptions {
  /** The certificates, and the key of the configuration that they are under, such as `server.http.tls`. */
  readonly tls: TlsConfig | undefined;
  readonly tlsKey: string;
  /** What is spoken there, in the order of preference. */
  readonly protocols: readonly [Protocol, ...Protocol[]];
  /** Is given each connection on which requests may come, with nothing read of it. */
  readonly accept: (socket: Socket, protocol: Protocol) => void;
  /** How long a connection may take to its first bytes, in milliseconds. */
  readonly beginMs: number;
  readonly logger?: Logger | undefined;
}

/**
 * Takes the connections of a port, secures them where there are certificates, and hands them on once
 * it is known what is spoken on them: by ALPN, or by the first bytes, since HTTP/2 begins with some
 * that nothing else begins with.
 */
export class Port {
  /** Listens; whoever has the port makes it. */
  readonly server: Server;
  readonly #detector: ProtocolDetector;
  readonly #handshakes: Handshakes | undefined;

  /** @throws StartUpError with all that is wrong with the certificates */
  constructor(options: PortOptions) {
    const { tls, protocols, accept, beginMs } = options;
    this.#detector = new ProtocolDetector(beginMs, accept);
    const take = (socket: Socket): void => {
      // An error of one connection concerns that one only; it closes.
      socket.on("error", ignore);
      const agreed = (socket as Partial<TLSSocket>).alpnProtocol;
      const [only, ...others] = protocols;
      if (agreed === "h2" || agreed === "http/1.1") accept(socket, agreed);
      else if (others.length > 0) this.#detector.add(socket);
      // HTTP/2 alone is not spoken over TLS where it was not agreed on (RFC 9113, section 3.3).
      else if (agreed === false) socket.destroy();
      else accept(socket, only);
    };
    if (tls === undefined) this.server = createServer({ noDelay: true }, take);
    else {
      const { server, handshakes } = secured(options, tls, take);
      this.server = server;
      this.#handshakes = handshakes;
    }
  }

  /** Ends the connections on which no request can be under way yet. */
  closeSilent(): void {
    this.#detector.close();
    this.#handshakes?.close();
  }
}

function secured(
  { tlsKey, protocols, logger }: PortOptions,
  config: TlsConfig,
  take: (socket: Socket) => void,
): { server: Server; handshakes: Handshakes } {
  const tls = new ServerTls(tlsKey, config, logger);
  const alpn = { ALPNProtocols: [...protocols], noDelay: true };
  const server = createTlsServer({ ...tls.context, ...tls.handshake, ...alpn }, take);
  // Also while it is not secured yet.
  server.on("connection", (socket) => socket.on("error", ignore));
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.once("listening", () => {
    const end = tls.follow((context) => server.setSecureContext(context));
    server.once("close", end);
  });
  return { server, handshakes: new Handshakes(server) };
}

function ignore(): void {}
