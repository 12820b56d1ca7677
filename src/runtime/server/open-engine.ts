import { AuthzError } from "../../authz/engine/authz-error.ts";
import type { AuthorizationEngine } from "../../authz/engine/engine.ts";
import type { RelationshipStore } from "../../authz/engine/relationship-store.ts";
import type { SpicedbEngine } from "../../authz/spicedb/index.ts";
import { SILENT } from "../../common/logger.ts";
import { readRegularFile } from "../../common/regular-file.ts";
import { MissingRightsError } from "../../database/postgres/postgres-rights.ts";
import { assertAllRights } from "../../database/service/migrate.ts";
import { openDatabase } from "../../database/service/open-database.ts";
import { relationshipsFile } from "../../database/sqlite/sqlite-file.ts";
import { type Model, readModelFile } from "../../model/index.ts";
import { auditMigrations } from "../audit/tables/audit-table.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { StartUpError } from "../error/start-up-error.ts";
import { missingDrivers } from "./missing-drivers.ts";

type DatabaseConfig = NonNullable<ServiceConfig["database"]>;
type SpicedbConfig = NonNullable<ServiceConfig["security"]["authz"]["spicedb"]>;

const NS_PER_SECOND = 1_000_000_000;

/**
 * Reads the model of a configuration; undefined if it names none.
 *
 * @throws StartUpError with all that is wrong with it
 *
 * @example
 * ```ts
 * const model = loadModel(loadServiceConfig("service.yaml").config);
 * if (model?.definitions.has("topic") === false) console.error("the model has no type topic");
 * ```
 */
export function loadModel(config: ServiceConfig): Model | undefined {
  const file = config.security.authz.model;
  if (file === undefined) return undefined;
  const read = readModelFile(file);
  if (read.problems === undefined) return read.model;
  if (read.cause === undefined) throw new StartUpError(read.problems);
  // The file itself is the problem, so the key that names it is what to fix.
  const problems = read.problems.map((problem) => `security.authz.model: ${problem}`);
  throw new StartUpError(problems, { cause: read.cause });
}

const NO_MODEL = "security.authz.model is missing: name the file of the model";

/** What the engine of a configuration lacks, one line each. */
export function engineProblems(config: ServiceConfig): string[] {
  const { authz } = config.security;
  const own = problemsOfKind(config);
  return authz.model === undefined ? [NO_MODEL, ...own] : own;
}

/** The program of a service asks for an engine also if no RPC needs one. */
function orNoEngine(lack: string): string {
  return `${lack}, or remove createAuthorizationEngine: without AUTHORIZED RPCs a service needs no engine, unless its handlers use it`;
}

function problemsOfKind({ security: { authz }, database }: ServiceConfig): string[] {
  switch (authz.provider) {
    case "spicedb":
    case "iam":
      return authz[authz.provider] === undefined
        ? [`security.authz.${authz.provider} is missing: the provider is ${authz.provider}`]
        : [];
    case "embedded":
      return database === undefined
        ? ["database is missing: the embedded engine stores its relationships there"]
        : [];
  }
}

/**
 * Opens the authorization engine of a configuration, for handlers that ask it themselves
 * and for `createServer`, which closes it.
 *
 * @throws StartUpError if the model is missing or wrong, or a driver is not installed;
 * AuthzError if the store is not available
 *
 * @example
 * ```ts
 * const { config } = loadServiceConfig("service.yaml");
 * const engine = await createAuthorizationEngine(config);
 * ```
 */
export async function createAuthorizationEngine(
  config: ServiceConfig,
): Promise<AuthorizationEngine> {
  const lacks = engineProblems(config).map((lack) => (lack === NO_MODEL ? orNoEngine(lack) : lack));
  const problems = [...lacks, ...(await missingDrivers(config, true))];
  if (problems.length > 0) throw new StartUpError(problems);
  // From here on the engine has everything that it needs.
  const model = loadModel(config) as Model;
  const { provider, spicedb } = config.security.authz;
  switch (provider) {
    case "spicedb":
      return openSpicedb(spicedb as SpicedbConfig, model);
    case "iam": {
      // Loaded on demand: most services have another engine.
      const { openIamEngine } = await import("./open-iam-engine.ts");
      return openIamEngine(config, model);
    }
    case "embedded": {
      const { createEmbeddedEngine } = await import("../../authz/embedded/index.ts");
      const { model: modelFile } = config.security.authz;
      const store = await openStore(config.database as DatabaseConfig).catch((error) =>
        refuseWithAllRights(config, error),
      );
      return createEmbeddedEngine({ model, modelFile, store });
    }
  }
}

/**
 * Writes the model of a configuration to its SpiceDB, for a deployment that has one for its services,
 * as {@link migrateDatabase} makes the tables. It replaces no schema: one that several services share is
 * merged by a person.
 *
 * @returns whether it was written; false if SpiceDB has it, or the configuration names another engine
 * @throws StartUpError if the model is missing or wrong, or the driver is not installed; AuthzError
 * FAILED_PRECONDITION if SpiceDB has a schema that lacks a part of the model, UNAVAILABLE without SpiceDB
 *
 * @example
 * ```ts
 * const { config } = loadServiceConfig("service.yaml");
 * if (await writeModel(config)) console.log("wrote the model to SpiceDB");
 * ```
 */
export async function writeModel(config: ServiceConfig): Promise<boolean> {
  return writeOrPlanModel(config, { dryRun: false });
}

/**
 * Says whether {@link writeModel} would write the model, and changes nothing.
 *
 * @throws as `writeModel`, so also if SpiceDB has a schema that lacks a part of the model
 *
 * @example
 * ```ts
 * const { config } = loadServiceConfig("service.yaml");
 * if (await planModel(config)) console.log("SpiceDB has no schema yet");
 * ```
 */
export async function planModel(config: ServiceConfig): Promise<boolean> {
  return writeOrPlanModel(config, { dryRun: true });
}

async function writeOrPlanModel(
  config: ServiceConfig,
  options: { readonly dryRun: boolean },
): Promise<boolean> {
  const { provider } = config.security.authz;
  switch (provider) {
    case "spicedb":
      return writeToSpicedb(config, options);
    case "embedded":
    case "iam":
      // The embedded engine reads the model when it opens; that of IAM is written by IAM.
      return false;
  }
}

async function writeToSpicedb(
  config: ServiceConfig,
  { dryRun }: { readonly dryRun: boolean },
): Promise<boolean> {
  const problems = [...engineProblems(config), ...(await missingDrivers(config, true))];
  if (problems.length > 0) throw new StartUpError(problems);
  const { spicedb, model: file } = config.security.authz;
  const engine = await openSpicedb(spicedb as SpicedbConfig, loadModel(config) as Model);
  try {
    const text = readRegularFile(file as string).toString();
    return (await engine.writeSchema(text, { replace: false, dryRun })).written;
  } finally {
    await engine.close();
  }
}

async function openSpicedb(
  { endpoint, token = "", insecure, ca_file: caFile }: SpicedbConfig,
  model: Model,
): Promise<SpicedbEngine> {
  // Loaded on demand: its client is large.
  const { createSpicedbEngine } = await import("../../authz/spicedb/index.ts");
  const ca = caFile === undefined ? {} : { ca: readRegularFile(caFile) };
  const section = "security.authz.spicedb";
  return createSpicedbEngine({ endpoint, token, insecure, model, section, ...ca });
}

async function openStore(database: DatabaseConfig): Promise<RelationshipStore> {
  const { driver, file, url } = database;
  switch (driver) {
    case "sqlite": {
      const { openSqliteStore } = await import("../../authz/store/sqlite/open-sqlite-store.ts");
      return openSqliteStore({ file: relationshipsFile(file as string) });
    }
    case "postgres": {
      const { openPostgresStore } = await import(
        "../../authz/store/postgres/open-postgres-store.ts"
      );
      const pool = {
        max: database.max_open_conns,
        maxIdle: database.max_idle_conns,
        lifetimeSeconds: database.conn_max_lifetime_ns / NS_PER_SECOND,
      };
      return openPostgresStore({ url: url as string, pool });
    }
  }
}

/** One start names all missing rights: also those of the audit log, which is opened after the engine. */
async function refuseWithAllRights(
  { database, audit }: ServiceConfig,
  error: unknown,
): Promise<never> {
  // The store throws its own error, whose cause is that of its database.
  const missing = error instanceof AuthzError ? error.cause : error;
  if (!(missing instanceof MissingRightsError)) throw error;
  const opened = await openDatabase<unknown>(database as DatabaseConfig, { logger: SILENT });
  try {
    await assertAllRights(opened, auditMigrations(audit.retention_days));
  } catch (other) {
    // The next start reports any other problem.
    if (!(other instanceof MissingRightsError)) throw error;
    const all = missing.and(other);
    throw new AuthzError(all.code, all.message, { cause: all });
  } finally {
    await opened.close();
  }
  throw error;
}
