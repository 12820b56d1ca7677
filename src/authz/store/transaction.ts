import { CompiledQuery, type Kysely } from "kysely";
import type { Tables } from "./tables.ts";

const BEGIN = CompiledQuery.raw("begin");
const COMMIT = CompiledQuery.raw("commit");
const ROLLBACK = CompiledQuery.raw("rollback");

/**
 * Runs a piece of work in a transaction. Unlike Kysely's own, it throws the error of the work even
 * if the connection that caused it cannot roll back.
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
      // SQLite has already rolled back if the disk is full; the server rolls back a lost
      // connection.
      await connection.executeQuery(ROLLBACK).catch(() => undefined);
      throw error;
    }
  });
}
