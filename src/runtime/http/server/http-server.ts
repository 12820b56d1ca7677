import type { Server as Http1Server, RequestListener } from "node:http";
import type { Logger } from "../../../common/logger.ts";
import type { BoundMethod } from "../../binding/bound-method.ts";
import type { UnroutedObserver } from "../../chain/call-stages.ts";
import type { ServerChain } from "../../chain/server-chain.ts";
import {
  DEFAULT_MAX_MESSAGE_ELEMENTS,
  type ServerConfig,
} from "../../configuration/server-config.ts";
import { isGrpc, type ServedRpcs } from "../../grpc/served-rpcs.ts";
import { DEFAULT_CONNECTION_LIMITS } from "../../http2/connection-limits.ts";
import type { ArrivedStream, Http2Connection } from "../../http2/http2-connection.ts";
import { Http2Connections } from "../../http2/http2-connections.ts";
import { Http2Headers } from "../../http2/http2-headers.ts";
import { EventLoopTurn } from "../../port/event-loop-turn.ts";
import { listen } from "../../port/listen.ts";
import { Port } from "../../port/port.ts";
import type { ListeningAddress, TransportServer } from "../../port/transport-server.ts";
import { type RequestBudget, requestBudget } from "../../wire/message-budget.ts";
import { type Connection, Connections } from "../exchange/connections.ts";
import { Cors } from "../exchange/cors.ts";
import {
  DEFAULT_LIMITS,
  type ServerState,
  type TransportLimits,
} from "../exchange/server-state.ts";
import type { RawMethod } from "../raw/raw-route.ts";
import type { RpcProtocols } from "../routing/route-service.ts";
import { Router } from "../routing/router.ts";
import { Dispatcher, type FaultObserver } from "./dispatcher.ts";
import { ForeignServerListener } from "./foreign-server-listener.ts";
import { createHttp1Server } from "./http1-server.ts";
import { http2Requests } from "./http2-requests.ts";
import { answerMalformed } from "./malformed-request.ts";
import { goesOn } from "./overdue-request.ts";
import type { Probe } from "./probe.ts";
import { routerEntries } from "./router-entries.ts";

/** The part `server.http` of a service's configuration. */
export type HttpConfig = NonNullable<ServerConfig["http"]>;

/** The options of an HTTP server. */
export interface HttpServerOptions {
  readonly chain: ServerChain;
  /** All methods; those without a route are not served here. */
  readonly methods: readonly BoundMethod[];
  readonly rawMethods?: readonly RawMethod[];
  readonly config: Pick<HttpConfig, "address" | "max_body_bytes" | "cors" | "tls">;
  /**
   * Whether it has a port of its own; true by default. Without one, it serves the requests of its
   * request listener.
   */
  readonly listens?: boolean;
  /** The most elements of a request message. */
  readonly maxElements?: number;
  readonly probes?: readonly Probe[];
  /** Called for requests that never reach the chain. */
  readonly onUnrouted?: UnroutedObserver;
  /**
   * Called for responses that could not be sent, such as one with a value that JSON cannot
   * represent; the caller gets INTERNAL.
   */
  readonly onFault?: FaultObserver;
  /**
   * Called for certificates that are renewed, have expired, or cannot be served, and for
   * connections that cannot be accepted.
   */
  readonly logger?: Logger;
  readonly limits?: Partial<TransportLimits>;
  /** Serves the gRPC calls over HTTP/2; absent, none are served. */
  readonly grpc?: ServedRpcs | undefined;
  /** Serves RPCs by other protocols than HTTP's routes; absent, none are served. */
  readonly protocols?: RpcProtocols | undefined;
  /** The memory budget of request messages, which all transports of the process share. */
  readonly budget?: RequestBudget;
}

/** The server of HTTP. */
export interface HttpTransport extends TransportServer {
  /** Serves the requests of another server of `node:http`, while this one is started. */
  readonly requestListener: RequestListener;
}

/**
 * Serves RPCs by their `google.api.http` routes, and raw handlers. It only translates: the chain
 * enforces every policy.
 *
 * @throws StartUpError if the certificates cannot be served, or routes contradict each other
 * or do not fit their messages
 */
export function createHttpServer(options: HttpServerOptions): HttpTransport {
  return new HttpServer(options);
}

/** How often draining checks for idle connections. */
const DRAIN_INTERVAL_MS = 20;
/**
 * How many consecutive checks must find nothing under way, so that the last response has been sent.
 */
const QUIET_ROUNDS = 3;
/** How many turns of the event loop connections get to report their end. */
const MAX_TURNS = 100;

class HttpServer implements HttpTransport {
  readonly name = "http";
  readonly #options: HttpServerOptions;
  readonly #state: ServerState;
  readonly #dispatcher: Dispatcher;
  readonly #foreign: ForeignServerListener;
  readonly #port: Port;
  readonly #http1: Http1Server;
  readonly #http2: Http2Connections;
  readonly #serveStream: (arrived: ArrivedStream) => void;
  readonly #multiplexed = new WeakMap<Http2Connection, Connection>();
  #closed: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: HttpServerOptions) {
    const {
      methods,
      rawMethods = [],
      config,
      maxElements = DEFAULT_MAX_MESSAGE_ELEMENTS,
      probes = [],
      onUnrouted = () => undefined,
      onFault = () => undefined,
    } = options;
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    const budget = options.budget ?? requestBudget();
    this.#options = options;
    this.#state = {
      cors: new Cors(config.cors),
      limits,
      turn: new EventLoopTurn(),
      connections: new Connections(budget, limits.maxAgeMs),
      isDraining: false,
    };
    this.#dispatcher = new Dispatcher({
      chain: options.chain,
      state: this.#state,
      router: new Router(
        routerEntries({ methods, rawMethods, maxElements, maxBodyBytes: config.max_body_bytes }),
      ),
      protocols: options.protocols,
      probes,
      onUnrouted,
      onFault,
    });
    this.#foreign = new ForeignServerListener(this.#dispatcher);
    this.#http1 = createHttp1Server(limits, {
      onRequest: (request, response) => this.#dispatcher.dispatch(request, response),
      onMalformed: (error, socket) => {
        const connection = this.#state.connections.of(socket);
        const answer = (): void => answerMalformed(error, socket, connection, onUnrouted);
        const isOverdue = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
        if (!isOverdue || !goesOn(connection, limits.requestTimeoutMs, answer)) answer();
      },
    });
    this.#serveStream = http2Requests((request, response, stream, connection) =>
      this.#dispatcher.dispatchStream(this.#multiplex(connection), request, response, stream),
    );
    this.#http2 = new Http2Connections({
      limits: {
        ...DEFAULT_CONNECTION_LIMITS,
        idleMs: limits.keepAliveTimeoutMs,
        maxAgeMs: limits.maxAgeMs,
        maxAgeGraceMs: limits.maxAgeGraceMs,
      },
      budget,
      onStream: (arrived) => this.#serve(arrived),
    });
    this.#port = new Port({
      tls: config.tls,
      tlsKey: "server.http.tls",
      protocols: ["h2", "http/1.1"],
      beginMs: limits.headersTimeoutMs,
      accept: (socket, protocol) => {
        if (protocol === "h2") return this.#http2.accept(socket);
        // Its age counts from now on, as for HTTP/2.
        this.#state.connections.of(socket);
        this.#http1.emit("connection", socket);
      },
      logger: options.logger,
    });
  }

  get requestListener(): RequestListener {
    return this.#foreign.listener;
  }

  async listen(): Promise<ListeningAddress | undefined> {
    const { config, logger, listens = true } = this.#options;
    this.#foreign.begin();
    if (!listens) return undefined;
    this.#http1.emit("listening");
    try {
      const { address: host, port } = await listen(this.#port.server, {
        what: "HTTP",
        key: "server.http.address",
        address: config.address,
        logger,
      });
      return { host, port };
    } catch (error) {
      this.#http1.close(() => undefined);
      throw error;
    }
  }

  async drain(): Promise<void> {
    this.#stop();
    const http2 = this.#http2.drain();
    let quiet = 0;
    const isOver = (): boolean => this.#isClosed && this.#state.connections.active === 0;
    while (!isOver() && quiet < QUIET_ROUNDS) {
      // Also those whose last response went out before draining began.
      this.#http1.closeIdleConnections();
      this.#port.closeSilent();
      await new Promise((resolve) => setTimeout(resolve, DRAIN_INTERVAL_MS));
      quiet = this.#state.connections.active === 0 ? quiet + 1 : 0;
    }
    await http2;
  }

  async close(): Promise<void> {
    const closed = this.#stop();
    this.#foreign.end();
    this.#http2.close();
    this.#port.closeSilent();
    this.#http1.closeAllConnections();
    await closed;
    // Node reports the end of the server before that of its connections, which notify the calls.
    for (let turn = 0; turn < MAX_TURNS && this.#state.connections.active > 0; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    // It never listened by itself, so this fails; its timers end with it.
    this.#http1.close(() => undefined);
  }

  /** Accepts no more connections; resolves when there are none. */
  #stop(): Promise<void> {
    this.#state.isDraining = true;
    this.#options.grpc?.drain();
    return (this.#closed ??= new Promise((resolve) => {
      // It reports an error if it did not listen: then there is nothing to close.
      this.#port.server.close(() => {
        this.#isClosed = true;
        resolve();
      });
    }));
  }

  #serve(arrived: ArrivedStream): void {
    const { grpc } = this.#options;
    const { ":method": method, "content-type": type } = arrived.fields;
    if (grpc === undefined || method !== "POST" || !isGrpc(type)) this.#serveStream(arrived);
    else grpc.serve(arrived, new Http2Headers(arrived.headers));
  }

  /** One value for all requests of a connection. */
  #multiplex(connection: Http2Connection): Connection {
    let known = this.#multiplexed.get(connection);
    if (known === undefined) {
      known = this.#state.connections.multiplexed(connection);
      this.#multiplexed.set(connection, known);
    }
    return known;
  }
}
