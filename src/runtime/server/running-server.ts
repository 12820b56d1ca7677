import { setTimeout as sleep } from "node:timers/promises";
import type { AuthorizationEngine } from "../../authz/engine.ts";
import type { AuditLog } from "../audit/audit-log.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { milliseconds } from "../configuration/service-config-values.ts";
import type { AccessLog } from "../operation/access-log/access-log.ts";
import type { ProcessLogger } from "../operation/create-logger.ts";
import type { Readiness } from "../operation/readiness.ts";
import type { RuntimeEvents } from "../operation/runtime-events.ts";
import type { RouteDocument } from "../registry/route-entry.ts";
import type { RoutePublisher } from "../registry/route-publisher.ts";
import type { Cleanup } from "./cleanup.ts";
import { StartUpError } from "./start-up-error.ts";
import type { ListeningAddress, TransportServer } from "./transport-server.ts";

/** Where the parts of a server listen, by their name: `http`, `grpc`, `metrics`. */
export type ServerAddresses = Readonly<Record<string, ListeningAddress>>;

/** A server of generated services. */
export interface Server {
  /** The stored audit events, to be queried; absent without a database. */
  readonly audit: AuditLog | undefined;
  /** The engine that calls are checked with; absent where none is. */
  readonly engine: AuthorizationEngine | undefined;
  /** Listens, and is ready once its routes are published, where they are. */
  start(): Promise<ServerAddresses>;
  /**
   * Ends the server: not ready from now on, calls under way may finish within the configured
   * time, then everything is closed. Does not reject.
   */
  stop(): Promise<void>;
}

/** What a server is at run time. */
export interface RunningServerParts {
  readonly config: ServiceConfig;
  readonly transports: readonly TransportServer[];
  readonly readiness: Readiness;
  readonly routes: RouteDocument | undefined;
  readonly events: RuntimeEvents;
  readonly logger: ProcessLogger;
  readonly accessLog: AccessLog;
  readonly cleanup: Cleanup;
  readonly audit: AuditLog | undefined;
  readonly engine: AuthorizationEngine | undefined;
}

/** The life of a server, from listening to closing. */
export class RunningServer implements Server {
  readonly audit: AuditLog | undefined;
  readonly engine: AuthorizationEngine | undefined;
  readonly #parts: RunningServerParts;
  #publisher: RoutePublisher | undefined;
  #stopping: Promise<void> | undefined;

  constructor(parts: RunningServerParts) {
    this.#parts = parts;
    this.audit = parts.audit;
    this.engine = parts.engine;
  }

  async start(): Promise<ServerAddresses> {
    const { transports, readiness, logger } = this.#parts;
    const addresses: Record<string, ListeningAddress> = {};
    try {
      for (const transport of transports) addresses[transport.name] = await listen(transport);
      await this.#publish();
    } catch (error) {
      await this.stop();
      throw error;
    }
    readiness.started();
    logger.info({ addresses }, "started");
    return addresses;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Publishing goes on in the background; readiness waits for the first time. */
  async #publish(): Promise<void> {
    const { config, routes, events, logger, readiness } = this.#parts;
    if (config.registry === undefined || routes === undefined) return;
    // Loaded when it is needed: the client of etcd is large.
    const { createRoutePublisher } = await import("../registry/create-route-publisher.ts");
    this.#publisher = createRoutePublisher(config, [routes], { events, logger });
    if (this.#publisher !== undefined) readiness.add("route registry", this.#publisher.readiness);
  }

  async #stop(): Promise<void> {
    const { config, transports, readiness, logger, accessLog, cleanup } = this.#parts;
    const begin = performance.now();
    readiness.draining();
    // Whoever routes by the registry stops sending; whoever is on the way is served.
    const published = this.#publisher?.close();
    const limit = milliseconds(config.server.shutdown_timeout_ns);
    const calling = transports.filter(({ name }) => name !== "metrics");
    const late = new AbortController();
    const isDone = await Promise.race([
      Promise.all(calling.map((transport) => transport.drain())).then(() => true),
      sleep(limit, false, { signal: late.signal }).catch(() => false),
    ]);
    late.abort();
    if (!isDone) logger.warn({ limit_ms: limit }, "calls were still under way and are cut off");
    for (const transport of transports) {
      await transport.close().catch((error: unknown) => {
        logger.error({ error, server: transport.name }, "a server could not be closed");
      });
    }
    await published?.catch(() => undefined);
    accessLog.flush();
    await cleanup.run(logger);
    logger.info({ duration_ms: Math.round(performance.now() - begin) }, "stopped");
    logger.flush();
  }
}

/** An address that cannot be had is for a person to mend, whichever server wants it. */
function listen(transport: TransportServer): Promise<ListeningAddress> {
  return transport.listen().catch((error: unknown) => {
    throw error instanceof StartUpError
      ? error
      : new StartUpError([(error as Error).message], { cause: error });
  });
}
