import {
  constants,
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { toServiceError } from "../error/to-service-error.ts";
import { StartUpError } from "../server/start-up-error.ts";
import type { ListeningAddress, TransportServer } from "../server/transport-server.ts";
import { DEFAULT_CONNECTION_LIMITS, http2OptionsOf } from "./connection-limits.ts";
import { Connections } from "./connections.ts";
import { Dispatcher } from "./dispatcher.ts";
import type { GrpcServerOptions } from "./grpc-server-options.ts";
import { readTlsFiles } from "./tls-files.ts";

/**
 * The gRPC server of a process. It translates between HTTP/2 and the chain; what a call
 * may do is decided there.
 *
 * It speaks gRPC on Node's own HTTP/2 server. The server of `@grpc/grpc-js` reads all of
 * a unary request and decompresses it before anybody is authenticated, gives duplicate
 * metadata joined, takes a malformed deadline or an unknown encoding for none, and cannot
 * compress responses nor pass on the limits of HTTP/2.
 */
export function createGrpcServer(options: GrpcServerOptions): TransportServer {
  return new GrpcServer(options);
}

class GrpcServer implements TransportServer {
  readonly name = "grpc";
  readonly #options: GrpcServerOptions;
  readonly #dispatcher: Dispatcher;
  #server: Http2Server | undefined;
  #connections: Connections | undefined;

  constructor(options: GrpcServerOptions) {
    this.#options = options;
    this.#dispatcher = new Dispatcher(options);
  }

  async listen(): Promise<ListeningAddress> {
    if (this.#server !== undefined) throw new Error("the gRPC server listens already");
    const { config, limits: given } = this.#options;
    const limits = { ...DEFAULT_CONNECTION_LIMITS, ...given };
    const http2Options = http2OptionsOf(limits);
    const server =
      config.tls === undefined
        ? createServer(http2Options)
        : createSecureServer({ ...http2Options, ...(await readTlsFiles(config.tls)) });
    const connections = new Connections(server, limits.keepaliveMs);
    // The types of Node leave out the raw header list, which its documentation has.
    server.on("stream", ((
      stream: ServerHttp2Stream,
      headers: IncomingHttpHeaders,
      _flags: number,
      raw: string[],
    ) => this.#serve(stream, headers, raw)) as (stream: ServerHttp2Stream) => void);
    server.on("sessionError", () => undefined);
    const { host, port } = parseAddress(config.address);
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error) => {
        connections.destroy();
        reject(listenError(config.address, error));
      });
      server.listen(port, host, resolve);
    });
    server.removeAllListeners("error");
    this.#server = server;
    this.#connections = connections;
    server.on("error", (error) => {
      this.#options.logger?.error({ err: error }, "the gRPC server has a problem");
    });
    return { host, port: (server.address() as AddressInfo).port };
  }

  async drain(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    this.#dispatcher.drain();
    await this.#connections?.drain();
    await closed;
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#dispatcher.drain();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    this.#connections?.destroy();
    await closed;
  }

  /** Nothing that happens in a call may end the process. */
  #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void {
    stream.on("error", () => undefined);
    this.#dispatcher.serve(stream, headers, raw).catch((error: unknown) => {
      this.#options.logger?.error({ err: toServiceError(error) }, "a gRPC call went wrong");
      if (!stream.destroyed) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    });
  }
}

function parseAddress(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(":");
  return {
    host: address.slice(0, colon).replace(/^\[|\]$/g, ""),
    port: Number(address.slice(colon + 1)),
  };
}

function listenError(address: string, error: NodeJS.ErrnoException): StartUpError {
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: "the address is in use by another process",
    EACCES: "the port needs more rights than this process has",
    EADDRNOTAVAIL: "this machine does not have the address",
    ENOTFOUND: "the host name is not known",
  };
  const reason = why[error.code ?? ""] ?? error.message;
  return new StartUpError([`gRPC cannot listen on ${address} (server.grpc.address): ${reason}`], {
    cause: error,
  });
}
