import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "../../../common/logger.ts";
import { listen } from "../../port/listen.ts";
import type { ListeningAddress, ListeningServer } from "../../port/transport-server.ts";
import type { Metrics } from "./metrics.ts";

/** Where metrics are served; by the names of the configuration (`server.metrics`). */
export interface MetricsServerOptions {
  /** `host:port`. */
  readonly address: string;
  readonly path: string;
}

/** Scrapers and probes are few, and send a small request at once. */
const REQUEST_TIMEOUT_MS = 3_000;
/** How often this is checked; Node's default is only every 30 s. */
const CHECKING_INTERVAL_MS = 1_000;
/** How long a connection may be idle. Scrapers reconnect when theirs was closed. */
const SILENCE_MS = 10_000;
/** Far more than there are scrapers and probes, and a few MiB. */
const MAX_CONNECTIONS = 256;
const MAX_HEADER_BYTES = 8192;

/** Serves metrics, and its own health at `/healthz`, on a separate address. */
export class MetricsServer implements ListeningServer {
  readonly name = "metrics";
  readonly #metrics: Metrics;
  readonly #options: MetricsServerOptions;
  readonly #logger: Logger | undefined;
  readonly #connections = new LatelyHeard(MAX_CONNECTIONS);
  readonly #server;

  /** @param logger is notified of connections that cannot be taken */
  constructor(metrics: Metrics, options: MetricsServerOptions, logger?: Logger) {
    this.#metrics = metrics;
    this.#options = options;
    this.#logger = logger;
    this.#server = createServer(
      {
        requestTimeout: REQUEST_TIMEOUT_MS,
        headersTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: CHECKING_INTERVAL_MS,
        maxHeaderSize: MAX_HEADER_BYTES,
      },
      (request, response) => void this.#answer(request, response),
    );
    this.#server.timeout = SILENCE_MS;
    this.#server.on("connection", (socket) => this.#connections.opened(socket));
  }

  async listen(): Promise<ListeningAddress> {
    const { address: host, port } = await listen(this.#server, {
      what: "metrics",
      key: "server.metrics.address",
      address: this.#options.address,
      logger: this.#logger,
    });
    return { host, port };
  }

  /** Keeps responding: metrics during the shutdown are useful. */
  drain(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#connections.active(request.socket);
    request.resume();
    const { method, url = "" } = request;
    const path = url.split("?", 1)[0];
    if (path !== this.#options.path && path !== "/healthz") {
      send(response, 404, JSON_TYPE, error(404, "RESOURCE_NOT_FOUND", "resource not found"));
    } else if (method !== "GET" && method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      send(response, 405, JSON_TYPE, error(405, "METHOD_NOT_ALLOWED", "method not allowed"));
    } else if (path === "/healthz") {
      send(response, 200, JSON_TYPE, '{"status":"ok"}');
    } else {
      await this.#metrics.text().then(
        ({ contentType, body }) => send(response, 200, contentType, body),
        () => send(response, 500, JSON_TYPE, error(500, "INTERNAL", "internal error")),
      );
    }
  }
}

const JSON_TYPE = "application/json";

function error(status: number, code: string, message: string): string {
  return JSON.stringify({ status, code, message });
}

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, {
    "content-type": contentType,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(body);
}

/**
 * The connections of a server with a limit. When it is reached, the connection without a request
 * for longest is closed, so that silent ones cannot block new ones: honest clients send a request
 * at once.
 */
class LatelyHeard {
  readonly #most: number;
  /** From the least to the most recently active one. */
  readonly #connections = new Set<Socket>();

  /** @param most how many connections there are at most */
  constructor(most: number) {
    this.#most = most;
  }

  /** A connection was made. */
  opened(socket: Socket): void {
    for (const longest of this.#connections) {
      if (this.#connections.size < this.#most) break;
      this.#connections.delete(longest);
      longest.destroy();
    }
    this.#connections.add(socket);
    socket.once("close", () => this.#connections.delete(socket));
  }

  /** A request has come, its headers complete. */
  active(socket: Socket): void {
    // One that was closed since must not come back.
    if (this.#connections.delete(socket)) this.#connections.add(socket);
  }
}
