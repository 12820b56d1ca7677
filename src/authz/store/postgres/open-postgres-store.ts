import { DatabaseError } from "../../../database/database-error.ts";
import { isOutdated, type TableChange, type TableVersion } from "../../../database/tables.ts";
import type { RelationshipStore } from "../../engine/relationship-store.ts";
import { tableVersion } from "../migrations.ts";
import { migrateStore } from "../ownership.ts";
import type { PoolSettings, PostgresConnection } from "../postgres-settings.ts";
import { SqlStore } from "../sql-store.ts";
import { type StoreDatabase, storeError } from "../store-database.ts";

/** The location of a PostgreSQL store: a URL, or the settings of `pg`. */
export type PostgresStoreOptions = {
  /** The schema of its tables, which is created if it does not exist; `svc_access` if absent. */
  readonly schema?: string;
  /** How many changes are kept for watchers; 100,000 if absent. */
  readonly retention?: number;
  /** How many connections it has, and how long each is used. */
  readonly pool?: PoolSettings;
} & (
  | {
      /** `postgres://user:password@host:port/database`. */
      readonly url: string;
      readonly connection?: undefined;
    }
  | {
      /** The settings of `pg`, such as for a password that rotates. */
      readonly connection: PostgresConnection;
      readonly url?: undefined;
    }
);

/**
 * Opens the store in a PostgreSQL database, which is held until it is closed. Connect to the server
 * directly, or through a proxy that keeps sessions: the lock belongs to the session.
 *
 * @throws AuthzError FAILED_PRECONDITION if the URL is not valid, another process holds the store, or the
 * database refuses this one; UNAVAILABLE if the server cannot be reached; an Error that says what to
 * install where `pg` is not
 *
 * @example
 * ```ts
 * const store = await openPostgresStore({
 *   url: "postgres://notes@db.internal:5432/notes",
 *   pool: { max: 10 },
 * });
 * const engine = await createEmbeddedEngine({ model, store });
 * ```
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<RelationshipStore> {
  return SqlStore.open(await databaseOf(options), options.retention);
}

/**
 * Creates the tables of a store, or migrates them to this version. If they have this version
 * already, another process may hold the store meanwhile.
 *
 * @throws AuthzError as `openPostgresStore` does
 */
export async function migratePostgresStore(options: PostgresStoreOptions): Promise<TableChange> {
  if (!isOutdated(await postgresStoreVersion(options))) return "unchanged";
  return migrateStore(await databaseOf(options));
}

/**
 * The version of the tables of a store; another process may hold it meanwhile.
 *
 * @throws AuthzError as `openPostgresStore` does
 */
export async function postgresStoreVersion(options: PostgresStoreOptions): Promise<TableVersion> {
  const database = await databaseOf(options);
  try {
    return await tableVersion(database, database.reader);
  } catch (error) {
    throw database.explain(error);
  } finally {
    await database.close();
  }
}

async function databaseOf(options: PostgresStoreOptions): Promise<StoreDatabase> {
  // Only here, since other stores do not need the driver.
  const [{ postgresAddress }, { PostgresStoreDatabase }] = await Promise.all([
    import("../../../database/postgres/postgres-address.ts"),
    import("./postgres-store-database.ts"),
  ]);
  try {
    const address = postgresAddress(options.url ?? options.connection);
    return new PostgresStoreDatabase(address, options.schema ?? "svc_access", options.pool);
  } catch (error) {
    throw error instanceof DatabaseError ? storeError(error) : error;
  }
}
