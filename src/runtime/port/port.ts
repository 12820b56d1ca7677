import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import type { Logger } from "../../common/logger.ts";
import { Handshakes, ServerTls } from "../tls/server-tls.ts";
import type { TlsConfig } from "../tls/tls-files.ts";

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
 * Takes the connections of a port, secures them if there are certificates, and hands them on once
 * it is known what is spoken on them: by ALPN, or by the first bytes, since HTTP/2 begins with some
 * that nothing else begins with.
 */
export class Port {
  /** Listens; created by the owner of the port. */
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
      // HTTP/2 alone is not spoken over TLS if it was not agreed on (RFC 9113, section 3.3).
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

/** With these bytes every HTTP/2 connection begins, and no request of HTTP/1.1 (RFC 9113, section 3.4). */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** How often silent connections are checked, in milliseconds. */
const CHECK_EVERY_MS = 1000;

/** A connection whose first bytes are waited for. */
interface Silent {
  readonly since: number;
  readonly stop: () => void;
}

/** Finds out by the first bytes of a connection what is spoken on it. */
class ProtocolDetector {
  readonly #beginMs: number;
  readonly #accept: (socket: Socket, protocol: Protocol) => void;
  /** In the order in which they arrived. */
  readonly #silent = new Map<Socket, Silent>();
  #checks: NodeJS.Timeout | undefined;

  /** @param beginMs after how many milliseconds a connection without them ends */
  constructor(beginMs: number, accept: (socket: Socket, protocol: Protocol) => void) {
    this.#beginMs = beginMs;
    this.#accept = accept;
  }

  add(socket: Socket): void {
    let first: Buffer | undefined;
    const stop = (): void => {
      socket.off("data", onData).off("close", stop).off("end", stop);
      this.#silent.delete(socket);
      if (this.#silent.size === 0) this.#rest();
    };
    const onData = (chunk: Buffer): void => {
      first = first === undefined ? chunk : Buffer.concat([first, chunk]);
      const protocol = protocolOf(first);
      if (protocol === undefined) return;
      stop();
      socket.pause();
      socket.unshift(first);
      this.#accept(socket, protocol);
      // Only then, so that what was read already comes before what is read next.
      process.nextTick(() => socket.resume());
    };
    this.#silent.set(socket, { since: performance.now(), stop });
    this.#checks ??= setInterval(() => this.#check(), CHECK_EVERY_MS).unref();
    socket.on("data", onData).on("close", stop).on("end", stop);
  }

  /** Ends all that have sent nothing, or not enough. */
  close(): void {
    for (const [socket, { stop }] of this.#silent) {
      stop();
      socket.destroy();
    }
  }

  #check(): void {
    const latest = performance.now() - this.#beginMs;
    for (const [socket, { since, stop }] of this.#silent) {
      if (since > latest) return;
      stop();
      socket.destroy();
    }
  }

  #rest(): void {
    clearInterval(this.#checks);
    this.#checks = undefined;
  }
}

/** Undefined while both may still come. */
function protocolOf(bytes: Buffer): Protocol | undefined {
  const length = Math.min(bytes.length, PREFACE.length);
  if (bytes.compare(PREFACE, 0, length, 0, length) !== 0) return "http/1.1";
  return length === PREFACE.length ? "h2" : undefined;
}
