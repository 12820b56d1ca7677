import type { Kysely } from "kysely";
import type { DatabaseKind } from "../../database/database.ts";
import type { MigrationSet } from "../../database/service/migrate.ts";
import { COLUMN_TYPES } from "../../database/tables.ts";

/** The table of the keys. Times are milliseconds since the epoch, by the clock of the database. */
export interface KeyTables {
  readonly idempotency_keys: {
    /** The SHA-256 hash of the caller, the RPC and the key. */
    readonly key_hash: string;
    /** The SHA-256 hash of the request without its secrets. */
    readonly request_hash: string;
    /** The UUID of what the call creates. */
    readonly creation_id: string;
    /** The call that is under way; empty once one has succeeded. */
    readonly run: string;
    /** Until when that call is awaited: its process may have ended. */
    readonly run_until: number;
    /** The response in binary and base64; null before, and where it is not kept. */
    readonly response: string | null;
    readonly expire_time: number;
  };
}

/** The steps to the table of this version. */
export const KEY_MIGRATIONS: MigrationSet = {
  component: "idempotency",
  steps: [createKeys],
  rights: { idempotency_keys: ["select", "insert", "update", "delete"] },
};

// biome-ignore lint/suspicious/noExplicitAny: it makes the table that a type would name
async function createKeys({ schema }: Kysely<any>, kind: DatabaseKind): Promise<void> {
  const { text, whole } = COLUMN_TYPES[kind];
  await schema
    .createTable("idempotency_keys")
    .addColumn("key_hash", text, (column) => column.primaryKey())
    .addColumn("request_hash", text, (column) => column.notNull())
    .addColumn("creation_id", text, (column) => column.notNull())
    .addColumn("run", text, (column) => column.notNull())
    .addColumn("run_until", whole, (column) => column.notNull())
    .addColumn("response", text)
    .addColumn("expire_time", whole, (column) => column.notNull())
    .execute();
  await schema
    .createIndex("idempotency_keys_expire_time")
    .on("idempotency_keys")
    .column("expire_time")
    .execute();
}
