import type { RequestListener } from "node:http";
import type { RouteDocument } from "../../api/format.ts";
import type { AuthorizationEngine } from "../../authz/engine/engine.ts";
import { within } from "../../common/within.ts";
import type { AuditLog } from "../audit/log/audit-log.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { milliseconds } from "../configuration/service-config-values.ts";
import { StartUpError } from "../error/start-up-error.ts";
import type { RuntimeEvents } from "../events/runtime-events.ts";
import type { ServerJobs } from "../jobs/open-jobs.ts";
import type { ProcessLogger } from "../logging/create-logger.ts";
import type { AccessLog } from "../observers/access-log/access-log.ts";
import type { ListeningAddress, TransportServer } from "../port/transport-server.ts";
import type { RoutePublisher } from "../registry/route-publisher.ts";
import type { CallsUnderWay } from "./calls-under-way.ts";
import type { Cleanup } from "./cleanup.ts";
import type { ServerReadiness } from "./readiness.ts";

/** How long callers have to get the error of their ended call before connections are closed. */
const CLOSING_MS = 500;

/** Where the parts of a server listen, by their name: `http`, `grpc`, `metrics`. */
export type ServerAddresses = Readonly<Record<string, ListeningAddress>>;

/** A server of generated services. */
export interface Server {
  /** The stored audit events, to be queried; undefined without a database. */
  readonly audit: AuditLog | undefined;
  /**
   * Serves the HTTP/1.1 requests of your own server: everything that the HTTP port serves, through
   * the same chain. Before the server is started and after it has stopped, requests get 503.
   * Undefined without `server.http`.
   *
   * The limits of connections and headers are those of that server. No body parser may run before it.
   *
   * @example
   * ```ts
   * const server = await createServer({ configuration, bindings, listenHttp: false });
   * const own = http.createServer(server.requestListener).listen(8080);
   * await server.start();
   * ```
   */
  readonly requestListener: RequestListener | undefined;
  /** The engine that calls are checked with; undefined if none is. */
  readonly engine: AuthorizationEngine | undefined;
  /**
   * Listens, and is ready once its routes are published, if they are. A server can be started once;
   * if it cannot listen, it is closed.
   *
   * @returns where it listens
   * @throws StartUpError with all addresses that are not available, or if it was started or stopped
   * before
   */
  start(): Promise<ServerAddresses>;
  /**
   * Ends the server: not ready from now on, calls under way may finish within the configured
   * time, streams within half of it, and the signals of jobs are aborted, then everything is closed. Does not reject, and
   * may be called at any time.
   */
  stop(options?: {
    /**
     * Omits `server.shutdown_delay_ns`, or the rest of it if the server is already stopping: after an
     * error, for instance.
     */
    readonly withoutDelay?: boolean;
  }): Promise<void>;
}

/** What a server is at run time. */
export interface RunningServerParts {
  readonly config: ServiceConfig;
  /** The name of this process among its replicas. */
  readonly instance: string;
  readonly transports: readonly TransportServer[];
  readonly calls: CallsUnderWay;
  /** Resolves once no handler of an audited call runs whose caller has cancelled. */
  readonly handlersSettled: () => Promise<void>;
  readonly readiness: ServerReadiness;
  readonly routes: RouteDocument | undefined;
  readonly events: RuntimeEvents;
  readonly logger: ProcessLogger;
  readonly accessLog: AccessLog;
  readonly cleanup: Cleanup;
  readonly audit: AuditLog | undefined;
  readonly engine: AuthorizationEngine | undefined;
  readonly jobs: ServerJobs | undefined;
  readonly requestListener: RequestListener | undefined;
  /** `ServerOptions.version`. */
  readonly version?: string | undefined;
  readonly configurationFile?: string | undefined;
  /** `ServerOptions.onStopping`. */
  readonly onStopping: (() => void) | undefined;
}

/** The life of a server, from listening to closing. */
export class RunningServer implements Server {
  readonly audit: AuditLog | undefined;
  readonly engine: AuthorizationEngine | undefined;
  readonly requestListener: RequestListener | undefined;
  readonly #parts: RunningServerParts;
  #publisher: RoutePublisher | undefined;
  #isStarted = false;
  #listening: Promise<ServerAddresses> | undefined;
  #stopping: Promise<void> | undefined;
  readonly #withoutDelay = new AbortController();

  constructor(parts: RunningServerParts) {
    this.#parts = parts;
    this.audit = parts.audit;
    this.engine = parts.engine;
    this.requestListener = parts.requestListener;
  }

  async start(): Promise<ServerAddresses> {
    const { transports, readiness, logger } = this.#parts;
    if (this.#isStarted)
      throw new StartUpError(["the server was already started: create another one"]);
    this.#isStarted = true;
    let addresses: ServerAddresses;
    try {
      this.#refuseStopped();
      this.#listening = listenAll(transports);
      addresses = await this.#listening;
      await this.#publish();
      this.#refuseStopped();
    } catch (error) {
      await this.stop();
      throw error;
    }
    readiness.started();
    this.#parts.jobs?.start();
    const { version, configurationFile } = this.#parts;
    logger.info({ version, configuration: configurationFile, addresses }, "started");
    return addresses;
  }

  stop({ withoutDelay = false } = {}): Promise<void> {
    if (withoutDelay) this.#withoutDelay.abort();
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  #refuseStopped(): void {
    if (this.#stopping !== undefined)
      throw new StartUpError(["the server was stopped: create another one"]);
  }

  /** Publishing continues in the background; readiness waits for the first publication. */
  async #publish(): Promise<void> {
    const { config, instance, routes, events, logger, readiness } = this.#parts;
    if (config.registry === undefined || routes === undefined) return;
    // Loaded on demand: the etcd client is large.
    const { createRoutePublisher } = await import("../registry/route-publisher.ts");
    this.#refuseStopped();
    this.#publisher = createRoutePublisher(config, [routes], { instance, events, logger });
    if (this.#publisher !== undefined) readiness.add("route registry", this.#publisher.readiness);
  }

  async #stop(): Promise<void> {
    const { readiness, logger, accessLog, cleanup } = this.#parts;
    const begin = performance.now();
    const wasReady = readiness.state === "ready";
    readiness.draining();
    // Routers that use the registry stop sending; calls under way are served.
    let published = wasReady ? this.#publisher?.close() : undefined;
    const delay = wasReady ? this.#delayMs() : 0;
    if (delay > 0) await this.#serveFor(delay);
    this.#announceStop();
    // A server that is about to listen cannot be closed yet.
    await this.#listening?.catch(() => undefined);
    published ??= this.#publisher?.close();
    const timeout = milliseconds(this.#parts.config.server.shutdown_timeout_ns);
    // The delay is a part of that time.
    const limit =
      delay > 0 ? Math.max(0, Math.round(begin + timeout - performance.now())) : timeout;
    const jobs = this.#parts.jobs?.stop(limit);
    await this.#drain(limit);
    await jobs;
    await this.#closeTransports();
    await published?.catch(() => undefined);
    accessLog.close();
    await cleanup.run(logger);
    logger.info({ duration_ms: Math.round(performance.now() - begin) }, "stopped");
    logger.flush();
  }

  #delayMs(): number {
    const nanoseconds = this.#parts.config.server.shutdown_delay_ns;
    return nanoseconds === 0 || this.#withoutDelay.signal.aborted ? 0 : milliseconds(nanoseconds);
  }

  /** Serves on, not ready, until load balancers have noticed, before a connection is refused. */
  async #serveFor(delay: number): Promise<void> {
    const { signal } = this.#withoutDelay;
    this.#parts.logger.info({ delay_ms: delay }, "not ready, and still serving");
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    await within(aborted, delay, () => undefined);
  }

  /** What fails there must not keep the server from stopping. */
  #announceStop(): void {
    const { onStopping, logger } = this.#parts;
    try {
      onStopping?.();
    } catch (error) {
      logger.error({ error }, "onStopping failed");
    }
  }

  /** Accepts no more calls, and lets those under way finish in time. */
  async #drain(limit: number): Promise<void> {
    const { transports, calls, handlersSettled, logger } = this.#parts;
    const calling = transports.filter(({ name }) => name !== "metrics");
    const drained = Promise.all(calling.map((transport) => transport.drain())).then(
      handlersSettled,
    );
    calls.drain(limit / 2);
    const isDrained = drained.then(() => true);
    if (await within(isDrained, limit, () => false)) return;
    logger.warn(
      { limit_ms: limit, calls: calls.count },
      "calls were still under way and are cut off",
    );
    // Their callers are notified; connections that do not read that are cut off.
    calls.abort();
    await within(drained, CLOSING_MS, () => undefined);
  }

  async #closeTransports(): Promise<void> {
    const { transports, logger } = this.#parts;
    for (const transport of transports) {
      await transport.close().catch((error: unknown) => {
        logger.error({ error, server: transport.name }, "a server could not be closed");
      });
    }
  }
}

/** A person must fix an unavailable address of any server; all of them are reported. */
async function listenAll(transports: readonly TransportServer[]): Promise<ServerAddresses> {
  const addresses: Record<string, ListeningAddress> = {};
  const errors: unknown[] = [];
  for (const transport of transports) {
    try {
      const address = await transport.listen();
      if (address !== undefined) addresses[transport.name] = address;
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === 0) return addresses;
  const problems = errors.flatMap((error) =>
    error instanceof StartUpError ? error.problems : [(error as Error).message],
  );
  throw new StartUpError(problems, { cause: errors[0] });
}
