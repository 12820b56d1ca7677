import { StoredAuditRecorder } from "../audit/recorder/audit-recorder.ts";
import { authnWarnings } from "../authn/check-authn-config.ts";
import { ServerChain } from "../chain/server-chain.ts";
import { milliseconds } from "../configuration/service-config-values.ts";
import { createLogger, loggerOptionsOf } from "../logging/create-logger.ts";
import { AccessLog } from "../observers/access-log/access-log.ts";
import { createMetrics } from "../observers/metrics/metrics.ts";
import { givenRouteDocument } from "../registry/route-entry.ts";
import { newInstanceId } from "../registry/route-keys.ts";
import { countSecretFiles } from "../secret/followed-secret.ts";
import { checkServerTls } from "../tls/check-tls.ts";
import { CallsUnderWay } from "./calls-under-way.ts";
import { Cleanup } from "./cleanup.ts";
import { watchFileDescriptors } from "./file-descriptors.ts";
import { chainParts, openParts, type PartsContext } from "./open-parts.ts";
import { openTransports } from "./open-transports.ts";
import { planServer } from "./plan-server.ts";
import { ServerReadiness } from "./readiness.ts";
import { RunningServer, type Server } from "./running-server.ts";
import type { ServerOptions } from "./server-options.ts";
import { keepTickShape } from "./tick-shape.ts";

/**
 * Creates a server of generated services: callers are authenticated, authorized, limited and
 * audited by the policies, over HTTP and gRPC alike. It serves once it is started. If creation
 * fails, the engine and the database of the options are closed and `onClose` called.
 *
 * @throws StartUpError if policies, services, handlers, model and configuration do not fit
 * together, with all problems at once (docs/requirements.md, EXP-6); AuthzError or DatabaseError if
 * a store or a database is not available
 *
 * @example
 * ```ts
 * const configuration = loadServiceConfig("service.yaml");
 * const engine = await createAuthorizationEngine(configuration.config);
 * const server = await createServer({
 *   configuration,
 *   engine,
 *   bindings: [bindNotesService(handlers(engine))],
 *   routes: readRouteDocument("gen/routes/notes.json"),
 * });
 * await server.start();
 * await server.stop();
 * ```
 */
export async function createServer(serverOptions: ServerOptions): Promise<Server> {
  keepTickShape();
  const { config, warnings } = serverOptions.configuration;
  const logger = serverOptions.logger ?? createLogger(loggerOptionsOf(config));
  const readiness = new ServerReadiness({ logger });
  const metrics = createMetrics();
  metrics.readiness(() => readiness.isReady());
  // Opened parts are closed again if a later part cannot be opened.
  const cleanup = new Cleanup();
  try {
    const { onClose, engine, database, auditRecorder: recorder, routes } = serverOptions;
    if (database !== undefined) cleanup.add(() => database.close());
    if (recorder !== undefined) cleanup.add(() => recorder.close());
    if (onClose !== undefined) cleanup.add(onClose);
    if (engine !== undefined) cleanup.add(() => engine.close());
    const options = withPlatformOrigins(
      routes === undefined
        ? serverOptions
        : { ...serverOptions, routes: givenRouteDocument(routes) },
    );
    const probes = readiness.probes().map(({ path }) => path);
    const plan = await planServer(options, probes);
    const found = new Set([...warnings, ...authnWarnings(config), ...plan.warnings]);
    // The ports that use them say these, and again when the certificates are renewed.
    for (const { warnings } of checkServerTls(config.server)) {
      for (const warning of warnings) found.delete(warning);
    }
    for (const warning of found) logger.warn({}, warning);
    const stored = recorder instanceof StoredAuditRecorder ? recorder : undefined;
    stored?.countIn(metrics.events);
    const instance = stored?.instance ?? newInstanceId();
    return await assemble({ options, plan, instance, logger, metrics, readiness, cleanup });
  } catch (error) {
    await cleanup.run(logger);
    throw error;
  }
}

/** Opens the parts of a planned server, and connects them. */
async function assemble(context: PartsContext): Promise<Server> {
  const { options, plan, instance, logger, metrics, readiness, cleanup } = context;
  const { config } = options.configuration;
  const { events } = metrics;
  cleanup.add(countSecretFiles(events));
  for (const { rpc, policy } of [...plan.methods, ...plan.rawMethods.map(({ method }) => method)]) {
    if (policy.rateLimit !== undefined) events.expect("rateLimited", rpc);
  }
  const { engine, audit, revocations, jobs, idempotency } = await openParts(context);
  for (const [name, check] of Object.entries(options.readiness ?? {})) readiness.add(name, check);
  for (const metric of options.metrics ?? []) metrics.service(metric, logger);

  const accessLog = new AccessLog(logger, {
    enabled: config.access_log.enabled,
    skipPaths: config.access_log.skip_paths,
    slowThresholdMs: milliseconds(config.access_log.slow_threshold_ns),
  });
  cleanup.add(watchFileDescriptors({ logger }));
  const calls = new CallsUnderWay();
  const observers = [metrics.observer, accessLog, calls];
  const parts = chainParts(options, {
    engine,
    audit,
    revocations,
    idempotency,
    logger,
    events,
    onClose: (end) => cleanup.add(end),
    observers,
  });
  const stream = milliseconds(config.server.stream_timeout_ns);
  const { transports, requestListener } = await openTransports({
    config,
    listenHttp: options.listenHttp ?? true,
    plan,
    chainFor: (timeoutNs) =>
      new ServerChain({ ...parts, timeoutMs: { unary: milliseconds(timeoutNs), stream } }),
    readiness,
    metrics,
    accessLog,
    logger,
  });
  return new RunningServer({
    config,
    instance,
    transports,
    calls,
    handlersSettled: () => audit.settled(),
    readiness,
    routes: options.routes,
    events,
    logger,
    accessLog,
    cleanup,
    audit: audit.log,
    jobs,
    engine,
    requestListener,
    version: options.version,
    configurationFile: options.configuration.file,
    onStopping: options.onStopping,
  });
}

/**
 * The options of a server with the origins of the platform: `frontends.*.allowed_origins` is in
 * the route document, so that a page that the edge lets call is not refused by the service.
 * Those of the service's own configuration are for pages that call it without the edge.
 */
function withPlatformOrigins(options: ServerOptions): ServerOptions {
  const { configuration, routes } = options;
  const { config } = configuration;
  const { http } = config.server;
  const platform = routes?.allowedOrigins ?? [];
  if (http === undefined || platform.length === 0) return options;
  const { cors } = http;
  const origins = new Set([...cors.allowed_origins, ...platform]);
  const merged = { ...cors, allowed_origins: [...origins] };
  const server = { ...config.server, http: { ...http, cors: merged } };
  return { ...options, configuration: { ...configuration, config: { ...config, server } } };
}
