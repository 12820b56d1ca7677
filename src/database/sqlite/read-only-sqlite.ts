import { existsSync } from "node:fs";
import { Kysely, sql } from "kysely";
import type { Database, PoolStats } from "../database.ts";
import { DatabaseError } from "../database-error.ts";
import { PatientSqliteDialect, SqliteConnection } from "./sqlite-connection.ts";
import { explainSqlite } from "./sqlite-errors.ts";
import { OpenedFile } from "./sqlite-file.ts";

/** The database of a service that may be running, in an SQLite file: read, never written, and without a lock. */
export class ReadOnlySqlite<Tables> implements Database<Tables> {
  readonly kind = "sqlite";
  readonly schema = undefined;
  readonly name: string;
  readonly kysely: Kysely<Tables>;
  readonly #file: string;
  readonly #connection: SqliteConnection<Tables>;

  /** @throws DatabaseError that says how to fix it */
  constructor(file: string) {
    this.#file = file;
    this.name = `the database ${file}`;
    if (!existsSync(file)) throw new DatabaseError("FAILED_PRECONDITION", `${file} does not exist`);
    try {
      this.#connection = new SqliteConnection(file, { readOnly: true });
    } catch (error) {
      throw this.explain(error);
    }
    const opened = new OpenedFile(file);
    // Readers of a WAL wait only where the file is repaired after a crash.
    this.kysely = new Kysely({
      dialect: new PatientSqliteDialect({ database: this.#connection }, undefined, () => {
        const problem = opened.problem();
        // Nobody writes to it any more: whoever waits for changes would wait for ever.
        if (problem !== undefined) throw new DatabaseError("FAILED_PRECONDITION", problem);
      }),
    });
  }

  as<Others>(): Database<Others> {
    return this as unknown as Database<Others>;
  }

  async ready(): Promise<{ ready: boolean; reason?: string }> {
    try {
      await sql`select 1 from sqlite_schema limit 1`.execute(this.kysely);
      return { ready: true };
    } catch (error) {
      return { ready: false, reason: this.explain(error).message };
    }
  }

  explain(error: unknown): Error {
    const { errcode = 0 } = error as { errcode?: number };
    // SQLITE_READONLY, SQLITE_CANTOPEN: not even a reader of a WAL does without its index.
    if ([8, 14].includes(errcode & 0xff)) {
      return new DatabaseError(
        "FAILED_PRECONDITION",
        `${this.name} cannot be read by user ${process.getuid?.()}: run as the user of the service, or copy a database that is not in use into a folder of your own: who reads needs the files -wal and -shm too, which are made where they are not there`,
        { cause: error },
      );
    }
    return explainSqlite(error, this.#file);
  }

  poolStats(): PoolStats {
    return { open: 1, idle: 1, waiting: 0, max: 1 };
  }

  async close(): Promise<void> {
    this.#connection.close();
  }
}
