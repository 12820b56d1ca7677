import { CompiledQuery, type Kysely } from "kysely";
import type { Tables } from "./tables.ts";

const BEGIN = CompiledQuery.raw("begin");
const COMMIT = CompiledQuery.raw("commit");
const ROLLBACK = CompiledQuery.raw("rollback");

/**
 * Runs a piece of work in a transaction. Unlike Kysely's own, it throws why the
 * work failed, also where the connection that fails it cannot roll back.
 */
export function inTransaction<T>(
  database: Kysely<Tables>,
  work: (connection: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  return database.connection().execute(async (connection) => {
    await connection.executeQuery(BEGIN);
    try {
      const result = await work(connection);
      await connection.executeQuery(COMMIT);
      return result;
    } catch (error) {
      // SQLite has rolled back by itself where the disk is full; a lost connection rolls back on its server.
      await connection.executeQuery(ROLLBACK).catch(() => undefined);
      throw error;
    }
  });
}
