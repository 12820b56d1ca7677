import { migrate } from "../../database/service/migrate.ts";
import { partsOf } from "../../database/service/server-database.ts";
import { REMOVAL_MIGRATIONS } from "./removal-table.ts";
import { Removals, type RemovalsOptions } from "./removals.ts";

/**
 * Opens what deletes records together with their relationships, and makes its table. Pass its job and its metrics to
 * the server.
 *
 * @param options - the database, which stays open as long, and the engine
 * @throws DatabaseError with the fix if the table cannot be made or used; TypeError if the database is not the
 * result of `openServiceDatabase`
 *
 * @typeParam Tables - the tables of the service, as types of Kysely
 *
 * @example
 * ```ts
 * const removals = await openRemovals({ database, engine });
 * removals.register({
 *   name: "topic",
 *   objectType: "topic",
 *   async deleteRecord(transaction, id) {
 *     await transaction.deleteFrom("topics").where("id", "=", id).execute();
 *   },
 * });
 * const server = await createServer({
 *   configuration, bindings, database, engine,
 *   jobs: [removals.job],
 *   metrics: removals.metrics,
 * });
 * ```
 */
export async function openRemovals<Tables>(
  options: RemovalsOptions<Tables>,
): Promise<Removals<Tables>> {
  const parts = partsOf(options.database);
  if (parts === undefined) {
    throw new TypeError(
      "database is not the result of openServiceDatabase of svc-access/database: pass that",
    );
  }
  await migrate(parts.database, REMOVAL_MIGRATIONS);
  return new Removals(options);
}
