import type { ClientConfig } from "pg";
import type { RelationshipStore } from "../relationship-store.ts";
import type { PoolSettings } from "./postgres/postgres-kysely.ts";
import { SqlStore } from "./sql-store.ts";

/** Where a PostgreSQL store lies: a URL, or the settings of `pg`. */
export type PostgresStoreOptions = {
  /** The schema of its tables, which is created where it does not exist; `svc_access` where absent. */
  readonly schema?: string;
  /** How many changes are kept for watchers; 100,000 where absent. */
  readonly retention?: number;
  readonly pool?: PoolSettings;
} & (
  | { readonly url: string; readonly connection?: undefined }
  | { readonly connection: ClientConfig; readonly url?: undefined }
);

/**
 * Opens the store in a PostgreSQL database, which is held until it is closed.
 * The server is reached directly, or by a proxy that keeps sessions: the lock is one of the session.
 *
 * @throws AuthzError FAILED_PRECONDITION where another process holds it, or the
 * database refuses this one; UNAVAILABLE where the server cannot be reached
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<RelationshipStore> {
  // Only here, since who keeps relationships elsewhere needs no driver.
  const [{ postgresAddress }, { PostgresDatabase }] = await Promise.all([
    import("./postgres/postgres-address.ts"),
    import("./postgres/postgres-database.ts"),
  ]);
  const address = postgresAddress(options.url ?? options.connection);
  const database = new PostgresDatabase(address, options.schema ?? "svc_access", options.pool);
  return SqlStore.open(database, options.retention);
}
