import type { Socket } from "node:net";
import type { BoundMethod } from "../binding/bound-method.ts";
import type { Call } from "../call/call.ts";
import type { ServerChain } from "../chain/server-chain.ts";
import { DEFAULT_MAX_MESSAGE_ELEMENTS, type ServerConfig } from "../configuration/server-config.ts";
import { messageRegistry } from "../json/message-registry.ts";
import type { Logger } from "../operation/logger.ts";
import type { UnroutedObserver } from "../operation/unrouted-request.ts";
import { listen } from "../server/listen.ts";
import type { ListeningAddress, TransportServer } from "../server/transport-server.ts";
import { Turn } from "../server/turn.ts";
import { Connections } from "./connections.ts";
import { Cors } from "./cors.ts";
import { Dispatcher } from "./dispatcher.ts";
import { type App, createApp } from "./fastify-app.ts";
import { answerMalformed } from "./malformed-request.ts";
import type { Probe } from "./probe.ts";
import { type RawMethod, rawRoute, rawShapes } from "./raw-route.ts";
import type { RouteService } from "./route-service.ts";
import { Router, type RouterEntry } from "./router.ts";
import { compileRpcRoute } from "./rpc-route.ts";
import type { ServerState } from "./server-state.ts";
import { DEFAULT_LIMITS, type TransportLimits } from "./transport-limits.ts";

/** The part `server.http` of a service's configuration. */
export type HttpConfig = NonNullable<ServerConfig["http"]>;

/** What an HTTP server is made of. */
export interface HttpServerOptions {
  readonly chain: ServerChain;
  /** All methods; those without a route are not served here. */
  readonly methods: readonly BoundMethod[];
  readonly rawMethods?: readonly RawMethod[];
  readonly config: Pick<HttpConfig, "address" | "max_body_bytes" | "cors" | "tls">;
  /** The most elements of a request message. */
  readonly maxElements?: number;
  readonly probes?: readonly Probe[];
  /** Hears of requests that never reach the chain. */
  readonly onUnrouted?: UnroutedObserver;
  /** Hears of responses that could not be sent, such as one with a value that JSON cannot hold; the caller gets INTERNAL. */
  readonly onFault?: (error: unknown, call: Call) => void;
  /** Is told of certificates that are renewed, have expired, or cannot be served, and of connections that cannot be taken. */
  readonly logger?: Logger;
  readonly limits?: Partial<TransportLimits>;
}

/**
 * Serves RPCs as `google.api.http` has it, and raw handlers. It only translates:
 * every policy is enforced by the chain.
 *
 * @throws StartUpError where the certificates cannot be served, or routes contradict each other
 * or do not fit their messages
 */
export function createHttpServer(options: HttpServerOptions): TransportServer {
  const { config, probes = [], onUnrouted = () => undefined, onFault = () => undefined } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const connections = new Connections();
  const state: ServerState = {
    cors: new Cors(config.cors),
    limits,
    turn: new Turn(),
    connections,
    isDraining: false,
  };
  const router = new Router(routerEntries(options));
  const dispatcher = new Dispatcher({
    chain: options.chain,
    state,
    router,
    probes,
    onUnrouted,
    onFault,
  });
  const onClientError = (error: NodeJS.ErrnoException, socket: Socket): void => {
    answerMalformed(error, socket, connections, onUnrouted);
  };
  const { tls } = config;
  const app = createApp(tls, limits, connections, dispatcher, onClientError, options.logger);
  return new HttpServer(app, config.address, state, options.logger);
}

function routerEntries(options: HttpServerOptions): RouterEntry<RouteService>[] {
  const { methods, rawMethods = [], config } = options;
  const { maxElements = DEFAULT_MAX_MESSAGE_ELEMENTS } = options;
  const registry = messageRegistry(methods);
  const rpcs = methods.flatMap((method) =>
    method.routes.flatMap((route): RouterEntry<RouteService>[] => {
      const { descriptor } = method;
      if (descriptor === undefined) return [];
      const limits = { maxElements, maxBodyBytes: config.max_body_bytes };
      return [
        {
          shape: route,
          name: `${route.method} ${route.path} of ${route.rpc}`,
          value: compileRpcRoute(method, route, descriptor, registry, limits),
        },
      ];
    }),
  );
  const raw = rawMethods.flatMap(({ method, path }) =>
    rawShapes(path).map((shape): RouterEntry<RouteService> => {
      const name = `${shape.method} ${path.path} of a raw handler`;
      return { shape, name, value: rawRoute(method, config.max_body_bytes) };
    }),
  );
  return [...rpcs, ...raw];
}

/** How often draining looks for connections that have become idle. */
const DRAIN_INTERVAL_MS = 20;
/** How often in a row nothing must be under way, so that the last response has left. */
const QUIET_ROUNDS = 3;
/** How many turns of the event loop connections get to tell that they are gone. */
const MAX_TURNS = 100;

class HttpServer implements TransportServer {
  readonly name = "http";
  readonly #app: App;
  readonly #address: string;
  readonly #state: ServerState;
  readonly #logger: Logger | undefined;
  #closed: Promise<void> | undefined;
  #isClosed = false;

  constructor(app: App, address: string, state: ServerState, logger: Logger | undefined) {
    this.#app = app;
    this.#address = address;
    this.#state = state;
    this.#logger = logger;
  }

  async listen(): Promise<ListeningAddress> {
    await this.#app.ready();
    const { address: host, port } = await listen(this.#app.server, {
      what: "HTTP",
      key: "server.http.address",
      address: this.#address,
      logger: this.#logger,
    });
    return { host, port };
  }

  async drain(): Promise<void> {
    this.#state.isDraining = true;
    void this.#stopListening();
    let quiet = 0;
    while (!this.#isClosed && quiet < QUIET_ROUNDS) {
      // Also those whose last response went out before draining began.
      this.#app.server.closeIdleConnections();
      this.#state.connections.closeSilent();
      await new Promise((resolve) => setTimeout(resolve, DRAIN_INTERVAL_MS));
      quiet = this.#state.connections.active === 0 ? quiet + 1 : 0;
    }
  }

  async close(): Promise<void> {
    this.#state.isDraining = true;
    const closed = this.#stopListening();
    this.#app.server.closeAllConnections();
    await closed;
    // Node tells that the server is closed before its connections do, and calls hear it from those.
    for (let turn = 0; turn < MAX_TURNS && this.#state.connections.active > 0; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await this.#app.close();
  }

  #stopListening(): Promise<void> {
    return (this.#closed ??= new Promise((resolve) => {
      // It answers with an error where it did not listen: then nothing is to be closed.
      this.#app.server.close(() => {
        this.#isClosed = true;
        resolve();
      });
    }));
  }
}
