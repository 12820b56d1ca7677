import { requestIdOf } from "../call/call-ids.ts";
import { type ConnectionLimits, DEFAULT_CONNECTION_LIMITS } from "../http2/connection-limits.ts";
import type { ArrivedStream } from "../http2/http2-connection.ts";
import { Http2Connections } from "../http2/http2-connections.ts";
import { Http2Headers } from "../http2/http2-headers.ts";
import { listen, parseAddress } from "../port/listen.ts";
import { Port } from "../port/port.ts";
import type { ListeningAddress, ListeningServer } from "../port/transport-server.ts";
import { type RequestBudget, requestBudget } from "../wire/message-budget.ts";
import {
  type GrpcServerConfig,
  isGrpc,
  ServedRpcs,
  type ServedRpcsOptions,
} from "./served-rpcs.ts";

/** The options of a gRPC server. */
export interface GrpcServerOptions extends ServedRpcsOptions {
  readonly config: ServedRpcsOptions["config"] & GrpcServerConfig;
  readonly limits?: Partial<ConnectionLimits>;
  /** The memory budget of request messages, which all transports of the process share. */
  readonly budget?: RequestBudget;
}

/**
 * The gRPC server of a process. It translates between gRPC and the chain, which makes all
 * decisions.
 *
 * @throws StartUpError with all problems of the certificates
 */
export function createGrpcServer(options: GrpcServerOptions): ListeningServer {
  return new GrpcServer(options);
}

class GrpcServer implements ListeningServer {
  readonly name = "grpc";
  readonly #options: GrpcServerOptions;
  readonly #methods: ServedRpcs;
  readonly #connections: Http2Connections;
  readonly #port: Port;
  #ended: Promise<void> | undefined;

  constructor(options: GrpcServerOptions) {
    this.#options = options;
    this.#methods = new ServedRpcs(options);
    const limits = { ...DEFAULT_CONNECTION_LIMITS, ...options.limits };
    this.#connections = new Http2Connections({
      limits,
      budget: options.budget ?? requestBudget(),
      onStream: (arrived) => this.#serve(arrived),
    });
    this.#port = new Port({
      tls: options.config.tls,
      tlsKey: "server.grpc.tls",
      protocols: ["h2"],
      beginMs: limits.beginMs,
      accept: (socket) => this.#connections.accept(socket),
      logger: options.logger,
    });
  }

  async listen(): Promise<ListeningAddress> {
    if (this.#port.server.listening) throw new Error("the gRPC server is already listening");
    const { config, logger } = this.#options;
    const { address } = config;
    const { port } = await listen(this.#port.server, {
      what: "gRPC",
      key: "server.grpc.address",
      address,
      logger,
    });
    return { host: parseAddress(address).host, port };
  }

  async drain(): Promise<void> {
    if (!this.#stop()) return;
    await this.#connections.drain();
    await this.#ended;
  }

  async close(): Promise<void> {
    if (!this.#stop()) return;
    this.#connections.close();
    await this.#ended;
  }

  /** Accepts no more connections; false if it never did. */
  #stop(): boolean {
    if (this.#ended === undefined && !this.#port.server.listening) return false;
    this.#methods.drain();
    this.#ended ??= new Promise<void>((resolve) => this.#port.server.close(() => resolve()));
    this.#port.closeSilent();
    return true;
  }

  #serve(arrived: ArrivedStream): void {
    const headers = new Http2Headers(arrived.headers);
    const method = headers.pseudo(":method");
    if (method !== "POST") return this.#refuse(arrived, headers, 405, "METHOD_NOT_ALLOWED");
    // If there are two, the first one is used, as in Node.
    if (!isGrpc(headers.all("content-type")[0])) {
      return this.#refuse(arrived, headers, 415, "UNSUPPORTED_MEDIA_TYPE");
    }
    this.#methods.serve(arrived, headers);
  }

  /** Other requests than gRPC get a plain HTTP response. */
  #refuse(
    { stream, connection }: ArrivedStream,
    headers: Http2Headers,
    status: number,
    code: string,
  ): void {
    const allow = status === 405 ? { allow: "POST" } : {};
    stream.respond({ ":status": status, ...allow }, { endStream: true });
    this.#options.onUnrouted?.({
      transport: "grpc",
      httpMethod: headers.pseudo(":method"),
      target: headers.pseudo(":path"),
      status,
      code,
      requestId: requestIdOf(headers),
      peer: connection.peer,
    });
  }
}
