import { sql } from "kysely";
import { openDatabase } from "../../database/open-database.ts";
import { readingSettings, SILENT } from "../../runtime/operation/reading-settings.ts";
import { OperatorError } from "../operator-error.ts";

/** To open a store that is not there would make it. @throws OperatorError where there is none */
export async function requirePostgresStore(url: string, schema = "svc_access"): Promise<void> {
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
