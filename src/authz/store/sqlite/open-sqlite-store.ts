import { resolve } from "node:path";
import { sqliteFileProblem } from "../../../database/sqlite/sqlite-file.ts";
import type { TableChange, TableVersion } from "../../../database/tables.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import type { RelationshipStore } from "../../engine/relationship-store.ts";
import { STORE_TABLES, tableVersion } from "../migrations.ts";
import { migrateStore } from "../ownership.ts";
import { SqlStore } from "../sql-store.ts";
import { SqliteStoreDatabase } from "./sqlite-store-database.ts";

export { STORE_TABLES };

/** The location of an SQLite store. */
export interface SqliteStoreOptions {
  /** The file; it is created if it does not exist, its folder is not. */
  readonly file: string;
  /** How many changes are kept for watchers; 100,000 if absent. */
  readonly retention?: number;
  /** The most pages (4 KiB) of the file; without a bound if absent. */
  readonly maxPages?: number;
}

/**
 * Opens the store in an SQLite file, which is held until it is closed.
 *
 * @throws AuthzError INVALID_ARGUMENT if `file` names none, such as `:memory:`: `createMemoryStore` makes
 * a store in memory; FAILED_PRECONDITION if another process holds it, or the
 * file cannot be a store; UNAVAILABLE if the disk fails
 *
 * @example
 * ```ts
 * const store = await openSqliteStore({ file: "relationships.db" });
 * const engine = await createEmbeddedEngine({ model, store });
 * ```
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<RelationshipStore> {
  return SqlStore.open(databaseOf(options), options.retention);
}

/**
 * Creates the tables of a store, or migrates them to this version. No process may hold the store.
 *
 * @throws AuthzError as `openSqliteStore` does
 */
export async function migrateSqliteStore(options: SqliteStoreOptions): Promise<TableChange> {
  return migrateStore(databaseOf(options));
}

/**
 * The version of the tables of a store in an existing file.
 *
 * @throws AuthzError as `openSqliteStore` does, also while another process holds the store
 */
export async function sqliteStoreVersion(options: SqliteStoreOptions): Promise<TableVersion> {
  const database = databaseOf(options);
  try {
    await database.connect();
    return await tableVersion(database, database.reader);
  } catch (error) {
    throw database.explain(error);
  } finally {
    await database.close();
  }
}

function databaseOf({ file, maxPages }: SqliteStoreOptions): SqliteStoreDatabase {
  const problem = sqliteFileProblem(file);
  if (problem !== undefined) {
    const message = `file ${problem}; for a store in memory, call createMemoryStore()`;
    throw new AuthzError("INVALID_ARGUMENT", message);
  }
  return new SqliteStoreDatabase(resolve(file), maxPages);
}
