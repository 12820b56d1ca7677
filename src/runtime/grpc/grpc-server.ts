import type { Socket } from "node:net";
import { type ConnectionInjector, Server, ServerCredentials } from "@grpc/grpc-js";
import { listen } from "../server/listen.ts";
import { parseAddress } from "../server/server-address.ts";
import type { ListeningAddress, TransportServer } from "../server/transport-server.ts";
import { DEFAULT_CONNECTION_LIMITS, serverOptionsOf } from "./connection-limits.ts";
import { type GrpcListener, grpcListener } from "./grpc-listener.ts";
import { GrpcMethods } from "./grpc-methods.ts";
import type { GrpcServerOptions } from "./grpc-server-options.ts";
import { StreamGuard } from "./stream-guard.ts";

/**
 * The gRPC server of a process, by grpc-js. It translates between gRPC and the chain; what
 * a call may do is decided there.
 */
export function createGrpcServer(options: GrpcServerOptions): TransportServer {
  return new GrpcServer(options);
}

/**
 * Listens by itself and hands the connections to grpc-js, whose own listening tells errors
 * as text, prints them, and whose forced end leaves connections open.
 */
class GrpcServer implements TransportServer {
  readonly name = "grpc";
  readonly #options: GrpcServerOptions;
  readonly #methods: GrpcMethods;
  readonly #server: Server;
  readonly #guard: StreamGuard;
  readonly #sockets = new Set<Socket>();
  #listener: GrpcListener | undefined;
  #injector: ConnectionInjector | undefined;
  #ended: Promise<void> | undefined;

  constructor(options: GrpcServerOptions) {
    this.#options = options;
    const limits = { ...DEFAULT_CONNECTION_LIMITS, ...options.limits };
    const methods = new GrpcMethods(options);
    this.#methods = methods;
    this.#server = new Server({
      ...serverOptionsOf(limits, options.config.max_message_bytes),
      interceptors: [methods.interceptorWith(() => this.#guard)],
    });
    this.#guard = new StreamGuard(
      this.#server,
      limits,
      (path) => methods.has(path),
      options.onUnrouted,
    );
    methods.addTo(this.#server);
  }

  async listen(): Promise<ListeningAddress> {
    if (this.#listener !== undefined) throw new Error("the gRPC server listens already");
    const { config, logger } = this.#options;
    const injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure());
    const accept = (socket: Socket): void => {
      // An error of one connection concerns that one only; it closes.
      socket.on("error", () => undefined);
      injector.injectConnection(socket);
    };
    const listener = grpcListener(config.tls, accept, logger);
    const { server } = listener;
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      socket.on("error", () => undefined);
    });
    const { address } = config;
    const bound = await listen(server, {
      what: "gRPC",
      key: "server.grpc.address",
      address,
      logger,
    });
    this.#listener = listener;
    this.#injector = injector;
    return { host: parseAddress(address).host, port: bound.port };
  }

  async drain(): Promise<void> {
    if (this.#listener === undefined) return;
    const ended = this.#end(this.#listener);
    this.#server.tryShutdown(() => undefined);
    await ended;
  }

  async close(): Promise<void> {
    if (this.#listener === undefined) return;
    const ended = this.#end(this.#listener);
    this.#injector?.drain(0);
    this.#server.forceShutdown();
    // Behind the timer of `drain`: those of which grpc-js does not know yet.
    setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, 1);
    await ended;
  }

  /** Takes no more connections; resolves when there are none. */
  #end({ server, closeHandshakes }: GrpcListener): Promise<void> {
    this.#methods.drain();
    this.#guard.drain();
    this.#ended ??= new Promise<void>((resolve) => server.close(() => resolve()));
    closeHandshakes();
    return this.#ended;
  }
}
