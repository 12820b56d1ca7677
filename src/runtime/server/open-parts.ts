import type { AuthorizationEngine } from "../../authz/engine.ts";
import { MissingRightsError } from "../../authz/store/postgres/postgres-rights.ts";
import type { Database } from "../../database/database.ts";
import { assertAllRights } from "../../database/migrate.ts";
import { openDatabase } from "../../database/open-database.ts";
import { auditMigrations } from "../audit/audit-table.ts";
import { openAudit, type ServiceAudit } from "../audit/open-audit.ts";
import type { ProcessLogger } from "../operation/create-logger.ts";
import type { Metrics } from "../operation/metrics/metrics.ts";
import type { Readiness } from "../operation/readiness.ts";
import type { Cleanup } from "./cleanup.ts";
import { createAuthorizationEngine } from "./open-engine.ts";
import type { ServerPlan } from "./plan-server.ts";
import type { ServerOptions } from "./server-options.ts";

const MS_PER_DAY = 86_400_000;

/** What the parts of a server are opened with. */
export interface PartsContext {
  readonly options: ServerOptions;
  readonly plan: ServerPlan;
  /** The name of this process among its replicas. */
  readonly instance: string;
  readonly logger: ProcessLogger;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  /** Closes what was opened, also where a later part cannot be. */
  readonly cleanup: Cleanup;
}

/** What calls are served with, and is open. */
export interface OpenParts {
  readonly engine: AuthorizationEngine | undefined;
  readonly audit: ServiceAudit;
}

/** Opens engine, database and audit; they are closed in the opposite order. */
export async function openParts(context: PartsContext): Promise<OpenParts> {
  const engine = await openEngine(context).catch((error) => refuseWithAllRights(context, error));
  const database = await openServiceDatabase(context);
  const audit = await openServiceAudit(context, database);
  return { engine, audit };
}

/** One start names all rights that are missing: also those of the audit, which would be opened next. */
async function refuseWithAllRights(
  { options: { configuration }, logger }: PartsContext,
  error: unknown,
): Promise<never> {
  const { database: settings, audit } = configuration.config;
  if (!(error instanceof MissingRightsError) || settings === undefined) throw error;
  const database = await openDatabase<unknown>(settings, { logger });
  try {
    await assertAllRights(database, auditMigrations(audit.retention_days));
  } catch (other) {
    // Whatever else is wrong the next start says.
    if (other instanceof MissingRightsError) throw error.and(other);
  } finally {
    await database.close();
  }
  throw error;
}

async function openEngine(context: PartsContext): Promise<AuthorizationEngine | undefined> {
  const { options, plan, logger, readiness, cleanup } = context;
  // One that is given was open before the plan was made: `createServer` sees to its end.
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
  // Not "authorization": behind that name a log hides whatever follows.
  readiness.add("authorization engine", async () => (await engine.ready()).reason);
  return engine;
}

async function openServiceDatabase(context: PartsContext): Promise<Database<unknown> | undefined> {
  const { options, logger, metrics, readiness, cleanup } = context;
  const settings = options.configuration.config.database;
  if (settings === undefined) return undefined;
  const database = await openDatabase<unknown>(settings, { logger });
  cleanup.add(() => database.close());
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
