import type { Database } from "../../database/database.ts";
import { migrate } from "../../database/service/migrate.ts";
import { type AuditTables, auditMigrations } from "./tables/audit-table.ts";
import { shiftChanges } from "./tables/change-order.ts";

/**
 * Makes the tables of audit, or migrates them to this version.
 *
 * @param retention how long events are kept, in any unit; indefinitely if undefined
 * @throws DatabaseError with the fix
 */
export async function openAuditTables(
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  database: Database<any>,
  retention: number | undefined,
): Promise<Database<AuditTables>> {
  await migrate(database, auditMigrations(retention));
  const tables = database.as<AuditTables>();
  try {
    await shiftChanges(tables);
  } catch (error) {
    throw database.explain(error);
  }
  return tables;
}
