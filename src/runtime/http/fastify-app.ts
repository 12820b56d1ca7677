import { METHODS, type RequestListener, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";
import Fastify from "fastify";
import type { Logger } from "../operation/logger.ts";
import { ServerTls } from "../tls/server-tls.ts";
import type { TlsConfig } from "../tls/tls-config.ts";
import type { Connections } from "./connections.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { TlsHttpServer } from "./tls-http-server.ts";
import type { TransportLimits } from "./transport-limits.ts";

/** Those that Fastify routes; Node reads the methods of RTSP as well. */
const HTTP_METHODS: ReadonlySet<string> = new Set(METHODS);

type ClientErrorHandler = (error: NodeJS.ErrnoException, socket: Socket) => void;

/**
 * Makes the server that Fastify keeps; routes and bodies are ours. So each request is taken over
 * before Fastify looks at its content type or reads its body, which must wait for
 * authentication.
 */
export function createApp(
  tls: TlsConfig | undefined,
  limits: TransportLimits,
  connections: Connections,
  dispatcher: Dispatcher,
  onClientError: ClientErrorHandler,
  logger?: Logger,
) {
  const secure = tls === undefined ? undefined : new ServerTls("server.http.tls", tls, logger);
  const transport = {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkingIntervalMs,
    insecureHTTPParser: false,
    // Node would answer without a body; the dispatcher refuses what has no host.
    requireHostHeader: false,
  };
  const app = Fastify<Server>({
    http: transport,
    ...(secure === undefined ? {} : { serverFactory: secured(transport, secure) }),
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    exposeHeadRoutes: false,
    // Messages have their own schemas: without these, a compiler of others is not even loaded.
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    return503OnClosing: false,
    forceCloseConnections: true,
    clientErrorHandler: onClientError,
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      dispatcher.dispatch(request.raw, reply.raw);
    },
  });
  app.addHook("onRequest", (request, reply, _done) => {
    reply.hijack();
    dispatcher.dispatch(request.raw, reply.raw);
  });
  app.all("*", () => undefined);
  app.setNotFoundHandler(() => undefined);
  const { server } = app;
  // All else Fastify would answer by itself.
  const [handle] = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request").on("request", (request, response) => {
    if (HTTP_METHODS.has(request.method ?? "")) handle?.(request, response);
    else dispatcher.dispatch(request, response);
  });
  // Node would drop headers past its limit without a word; too many are refused instead.
  server.maxHeadersCount = 0;
  server.on("connection", (socket) => connections.opened(socket));
  // The body is asked for only once it is wanted; another expectation is refused in our form.
  for (const event of ["checkContinue", "checkExpectation"] as const) {
    server.on(event, (request, response) => server.emit("request", request, response));
  }
  return app;
}

function unused(): never {
  throw new Error("no route has a schema of Fastify");
}

function secured(transport: ServerOptions, tls: ServerTls): (handler: RequestListener) => Server {
  return (handler) => new TlsHttpServer(transport, tls).on("request", handler);
}

/** The Fastify instance, and Node's server in it. */
export type App = ReturnType<typeof createApp>;
