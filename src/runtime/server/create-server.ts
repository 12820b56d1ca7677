import { openDatabase } from "../../database/open-database.ts";
import { openAudit } from "../audit/open-audit.ts";
import { authnWarnings } from "../authn/check-authn-config.ts";
import { identificationStages } from "../authn/identification-stages.ts";
import { createAuthorization } from "../authorization/authorization-stage.ts";
import { ServerChain } from "../chain/server-chain.ts";
import { milliseconds } from "../configuration/service-config-values.ts";
import { AccessLog } from "../operation/access-log/access-log.ts";
import { createLogger, loggerOptionsOf } from "../operation/create-logger.ts";
import { createMetrics } from "../operation/metrics/metrics.ts";
import { createReadiness } from "../operation/readiness.ts";
import { createTracing } from "../operation/tracing/tracing.ts";
import { createRateLimiter } from "../rate-limit/rate-limiter.ts";
import { CallsUnderWay } from "./calls-under-way.ts";
import { Cleanup } from "./cleanup.ts";
import { createAuthorizationEngine } from "./open-engine.ts";
import { openTransports } from "./open-transports.ts";
import { planServer } from "./plan-server.ts";
import { RunningServer, type Server } from "./running-server.ts";
import type { ServerOptions } from "./server-options.ts";

const MS_PER_DAY = 86_400_000;

/**
 * Makes a server of generated services: whoever calls is authenticated, authorized, limited
 * and audited as the policies say, over HTTP and gRPC alike. It serves once it is started.
 *
 * @throws StartUpError where policies, services, handlers, model and configuration do not fit
 * together: all that is wrong at once
 */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { config, warnings } = options.configuration;
  const logger = options.logger ?? createLogger(loggerOptionsOf(config));
  const metrics = createMetrics();
  const { events } = metrics;
  const readiness = createReadiness({ logger });
  // What was opened is closed again where a later part cannot be opened.
  const cleanup = new Cleanup();
  try {
    if (options.onClose !== undefined) cleanup.add(options.onClose);
    const given = options.engine;
    if (given !== undefined) cleanup.add(() => given.close());
    const plan = planServer(options);
    for (const warning of new Set([...warnings, ...authnWarnings(config), ...plan.warnings])) {
      logger.warn({}, warning);
    }
    const { authz } = config.security;
    const engine =
      given ?? (plan.needsEngine ? await createAuthorizationEngine(config) : undefined);
    if (engine !== undefined) {
      if (given === undefined) cleanup.add(() => engine.close());
      // Not "authorization": behind that name a log hides whatever follows.
      readiness.add("authorization engine", async () => (await engine.ready()).reason);
    }
    const database =
      config.database === undefined ? undefined : openDatabase(config.database, { logger });
    if (database !== undefined) {
      cleanup.add(() => database.close());
      readiness.add("database", async () => (await database.ready()).reason);
      metrics.databasePool("database", () => {
        const { open, idle, waiting } = database.poolStats();
        return { used: open - idle, idle, waiting };
      });
    }
    const days = config.audit.retention_days;
    const audit = await openAudit({
      methods: plan.methods,
      database,
      service: config.service,
      logger,
      events,
      ...(days === undefined ? {} : { maxAgeMs: days * MS_PER_DAY }),
    });
    cleanup.add(() => audit.close());
    for (const [name, check] of Object.entries(options.readiness ?? {})) readiness.add(name, check);

    const accessLog = new AccessLog(logger, {
      enabled: config.access_log.enabled,
      skipPaths: config.access_log.skip_paths,
      slowThresholdMs: milliseconds(config.access_log.slow_threshold_ns),
    });
    const tracing = createTracing(config.server.http?.tls === undefined ? "http" : "https");
    const calls = new CallsUnderWay();
    const parts = {
      ...identificationStages(config, {
        events,
        logger,
        revocations: options.revocations,
        further: options.authenticators,
      }),
      before: options.before ?? [],
      rateLimit: createRateLimiter({ events }),
      authorization: createAuthorization({
        engine,
        enabled: authz.enabled,
        devAllowAll: authz.dev_allow_all,
        authnDisabled: !config.security.authn.enabled || config.security.authn.mode === "disabled",
        events,
      }),
      audit: audit.trail,
      admission: options.admission ?? [],
      after: [...(tracing === undefined ? [] : [tracing.interceptor]), ...(options.after ?? [])],
      observers: [
        ...(tracing === undefined ? [] : [tracing.observer]),
        metrics.observer,
        accessLog,
        calls,
      ],
    };
    const stream = milliseconds(config.server.stream_timeout_ns);
    const transports = await openTransports({
      config,
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
      transports,
      calls,
      readiness,
      routes: options.routes,
      events,
      logger,
      accessLog,
      cleanup,
      audit: audit.log,
      engine,
    });
  } catch (error) {
    await cleanup.run(logger);
    throw error;
  }
}
