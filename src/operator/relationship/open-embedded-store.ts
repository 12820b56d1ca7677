import { existsSync } from "node:fs";
import { sql } from "kysely";
import { ENGINE_TRAITS } from "../../authz/engine/engine-kinds.ts";
import type { RelationshipStore } from "../../authz/engine/relationship-store.ts";
import { openPostgresStore } from "../../authz/store/postgres/open-postgres-store.ts";
import { openSqliteStore } from "../../authz/store/sqlite/open-sqlite-store.ts";
import { SILENT } from "../../common/logger.ts";
import { readingSettings } from "../../database/database.ts";
import { openDatabase } from "../../database/service/open-database.ts";
import { relationshipsFile } from "../../database/sqlite/sqlite-file.ts";
import { OperatorError, placeOf, readConfig, type StoreFlags } from "../command/flags.ts";

/** Checks that a store exists, since opening it would create it. @throws OperatorError if it does not */
async function requirePostgresStore(url: string, schema = "svc_access"): Promise<void> {
  const settings = readingSettings({ driver: "postgres", url });
  const database = await openDatabase(settings, { logger: SILENT, schema });
  try {
    const { rows } = await sql`select 1 from pg_tables
      where schemaname = ${schema} and tablename = 'relationships'`.execute(database.kysely);
    if (rows.length > 0) return;
  } catch (error) {
    throw database.explain(error);
  } finally {
    await database.close();
  }
  throw new OperatorError(
    `${database.name} has no relationships in the schema ${schema}: name another database, or --schema`,
  );
}

/** @throws OperatorError if the relationships of a service are not in its database */
async function requireEmbeddedEngine(file: string): Promise<void> {
  const { provider } = (await readConfig(file)).security.authz;
  const { elsewhere } = ENGINE_TRAITS[provider];
  if (elsewhere === undefined) return;
  throw new OperatorError(
    `${file} has security.authz.provider: ${provider}, so the relationships are not in its database: ${elsewhere}; name a store of the embedded engine with --store`,
  );
}

/**
 * Opens the store in the flags and locks it: the service must be stopped.
 *
 * @throws AuthzError that names the process with the lock
 */
export async function openStore(flags: StoreFlags): Promise<RelationshipStore> {
  if (flags.config !== undefined) await requireEmbeddedEngine(flags.config);
  const place = await placeOf(flags, relationshipsFile);
  switch (place.driver) {
    case "sqlite":
      return openFile(place.file);
    case "postgres": {
      const schema = flags.schema === undefined ? {} : { schema: flags.schema };
      await requirePostgresStore(place.url, flags.schema);
      return openPostgresStore({ url: place.url, ...schema });
    }
  }
}

async function openFile(file: string): Promise<RelationshipStore> {
  try {
    return await openSqliteStore({ file });
  } catch (error) {
    const beside = relationshipsFile(file);
    if (!/of another program/.test((error as Error).message) || !existsSync(beside)) throw error;
    throw new OperatorError(
      `${file} is the database of a service; its relationships are in ${beside}`,
    );
  }
}
