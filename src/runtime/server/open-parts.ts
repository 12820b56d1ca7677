import type { AuthorizationEngine } from "../../authz/engine/engine.ts";
import type { Logger } from "../../common/logger.ts";
import type { Database } from "../../database/database.ts";
import { openDatabase } from "../../database/service/open-database.ts";
import { partsOf } from "../../database/service/server-database.ts";
import { openAudit, type ServiceAudit } from "../audit/open-audit.ts";
import { identificationStages } from "../authn/identification-stages.ts";
import type { RevocationList } from "../authn/jwt/revocation-list.ts";
import { createAuthorization } from "../authorization/authorization-stage.ts";
import { countFailedHandlers } from "../authorization/engine-failures.ts";
import type { CallObserver } from "../chain/call-stages.ts";
import type { Interceptor } from "../chain/interceptor.ts";
import type { ServerChainParts } from "../chain/server-chain.ts";
import type { RuntimeEvents } from "../events/runtime-events.ts";
import { type Idempotency, openIdempotency } from "../idempotency/open-idempotency.ts";
import type { ServerJobs } from "../jobs/open-jobs.ts";
import type { ProcessLogger } from "../logging/create-logger.ts";
import type { Metrics } from "../observers/metrics/metrics.ts";
import { createTracing } from "../observers/tracing/tracing.ts";
import { createRateLimiter } from "../rate-limit/rate-limiter.ts";
import type { Cleanup } from "./cleanup.ts";
import { createAuthorizationEngine } from "./open-engine.ts";
import { openRevocations } from "./open-revocations.ts";
import type { ServerPlan } from "./plan-server.ts";
import type { ServerReadiness } from "./readiness.ts";
import type { ServerOptions } from "./server-options.ts";

const NO_CONNECTIONS = { used: 0, idle: 0, waiting: 0 };
const MS_PER_DAY = 86_400_000;
/** Below the limit of a readiness check, so that the engine says itself which server does not answer. */
const ENGINE_TIMEOUT_MS = 900;

/** The options for opening the parts of a server. */
export interface PartsContext {
  readonly options: ServerOptions;
  readonly plan: ServerPlan;
  /** The name of this process among its replicas. */
  readonly instance: string;
  readonly logger: ProcessLogger;
  readonly metrics: Metrics;
  readonly readiness: ServerReadiness;
  /** Closes the opened parts, even if a later one cannot be opened. */
  readonly cleanup: Cleanup;
}

/** The open parts that serve calls. */
export interface OpenParts {
  readonly engine: AuthorizationEngine | undefined;
  readonly audit: ServiceAudit;
  /** Which tokens are revoked; undefined for none. */
  readonly revocations: RevocationList | undefined;
  readonly jobs: ServerJobs | undefined;
  /** What does the work of calls once; undefined where no RPC takes `Idempotency-Key`. */
  readonly idempotency: Idempotency | undefined;
}

/** Opens engine, database, audit, revocations and jobs; they are closed in the opposite order. */
export async function openParts(context: PartsContext): Promise<OpenParts> {
  const engine = await openEngine(context);
  const database = await openServiceDatabase(context);
  const audit = await openServiceAudit(context, database);
  const revocations = await openRevocations(context);
  const { idempotentRpcs = [] } = context.options;
  const idempotency =
    idempotentRpcs.length === 0 || database === undefined
      ? undefined
      : await openIdempotency(idempotentRpcs, database);
  const jobs = await openServerJobs(context, database, idempotency);
  return { engine, audit, revocations, jobs, idempotency };
}

/** Loaded on demand: most services have none. */
async function openServerJobs(
  { plan, logger, metrics }: PartsContext,
  database: Database<unknown> | undefined,
  idempotency: Idempotency | undefined,
): Promise<ServerJobs | undefined> {
  const jobs = idempotency === undefined ? plan.jobs : [...plan.jobs, idempotency.job];
  if (jobs.length === 0) return undefined;
  const { openJobs } = await import("../jobs/open-jobs.ts");
  return openJobs(jobs, { database, logger, events: metrics.events });
}

async function openEngine(context: PartsContext): Promise<AuthorizationEngine | undefined> {
  const { options, plan, logger, metrics, readiness, cleanup } = context;
  // A given engine was open before the plan: `createServer` closes it.
  const given = options.engine;
  const engine =
    given ??
    (plan.needsEngine ? await createAuthorizationEngine(options.configuration.config) : undefined);
  if (engine === undefined) return undefined;
  if (given === undefined) cleanup.add(() => engine.close());
  engine.onFailure?.((error) => {
    logger.error(
      { reason: error.message },
      "permissions are no longer checked, and calls that need them are refused",
    );
  });
  // One that has no connections to a server has no pool.
  if (engine.connections?.() !== undefined) {
    metrics.databasePool("authorization", () => engine.connections?.() ?? NO_CONNECTIONS);
  }
  // Not "authorization": a log redacts everything after that name.
  readiness.add("authorization engine", async () => {
    const signal = AbortSignal.timeout(ENGINE_TIMEOUT_MS);
    return (await engine.ready({ signal })).reason;
  });
  return engine;
}

async function openServiceDatabase(context: PartsContext): Promise<Database<unknown> | undefined> {
  const { options, logger, metrics, readiness, cleanup } = context;
  const settings = options.configuration.config.database;
  if (settings === undefined) return undefined;
  const given = options.database === undefined ? undefined : partsOf(options.database);
  given?.setLogger(logger);
  const database: Database<unknown> =
    given?.database ?? (await openDatabase<unknown>(settings, { logger }));
  // A given one was open before the plan: `createServer` closes it.
  if (given === undefined) cleanup.add(() => database.close());
  readiness.add("database", async () => (await database.ready()).reason);
  metrics.databasePool("database", () => {
    const { open, idle, waiting } = database.poolStats();
    return { used: open - idle, idle, waiting };
  });
  return database;
}

async function openServiceAudit(
  { options, plan, instance, logger, metrics, cleanup }: PartsContext,
  database: Database<unknown> | undefined,
): Promise<ServiceAudit> {
  const { config } = options.configuration;
  const days = config.audit.retention_days;
  const audit = await openAudit({
    methods: [...plan.methods, ...plan.rawMethods.map(({ method }) => method)],
    database,
    service: config.service,
    instance,
    logger,
    events: metrics.events,
    ...(days === undefined ? {} : { maxAgeMs: days * MS_PER_DAY }),
    retention: { onAhead: metrics.auditClockAhead },
  });
  cleanup.add(() => audit.close());
  return audit;
}

/** The parts of the server that the chain uses. */
export interface ChainContext extends Omit<OpenParts, "jobs"> {
  readonly logger: Logger;
  readonly events: RuntimeEvents;
  /** Registers what is closed with the server. */
  readonly onClose: (end: () => void) => void;
  /** The observers of each call, after tracing. */
  readonly observers: readonly CallObserver[];
}

/** The stages of the chain of a server; how long calls may take is for each transport to say. */
export function chainParts(
  options: ServerOptions,
  { engine, audit, revocations, idempotency, logger, events, onClose, observers }: ChainContext,
): Omit<ServerChainParts, "timeoutMs"> {
  const { config } = options.configuration;
  const { authn, authz } = config.security;
  const tracing = createTracing(config.server.http?.tls === undefined ? "http" : "https");
  return {
    ...identificationStages(config, {
      events,
      logger,
      revocations,
      keySet: options.keySet,
      authenticators: options.authenticators,
      onClose,
    }),
    before: options.before ?? [],
    rateLimit: createRateLimiter({ events }),
    authorization: createAuthorization({
      engine,
      enabled: authz.enabled,
      devAllowAll: authz.dev_allow_all,
      authnDisabled: !authn.enabled || authn.mode === "disabled",
      events,
    }),
    audit: audit.trail,
    admission: options.admission ?? [],
    after: interceptorsOf(tracing?.interceptor, idempotency, options.after ?? []),
    observers: [
      ...(tracing === undefined ? [] : [tracing.observer]),
      countFailedHandlers(events),
      ...observers,
    ],
  };
}

/** Only RPCs that take `Idempotency-Key` wait for what looks at it. */
function interceptorsOf(
  tracing: Interceptor | undefined,
  idempotency: Idempotency | undefined,
  own: readonly Interceptor[],
): ServerChainParts["after"] {
  const first = tracing === undefined ? [] : [tracing];
  const usual = [...first, ...own];
  if (idempotency === undefined) return () => usual;
  const keyed = [...first, idempotency.interceptor, ...own];
  return (rpc) => (idempotency.rpcs.has(rpc) ? keyed : usual);
}
