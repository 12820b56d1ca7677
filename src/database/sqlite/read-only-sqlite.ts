import { existsSync } from "node:fs";
import { Kysely, sql } from "kysely";
import type { Database, PoolStats } from "../database.ts";
import { DatabaseError } from "../database-error.ts";
import { PatientSqliteDialect, SqliteConnection } from "./sqlite-connection.ts";
import { explainSqlite } from "./sqlite-errors.ts";
import { OpenedFile } from "./sqlite-file.ts";

/** Read-only access, without a lock, to the SQLite database of a service that may be running. */
export class ReadOnlySqlite<Tables> implements Database<Tables> {
  readonly kind = "sqlite";
  readonly schema = undefined;
  readonly name: string;
  readonly kysely: Kysely<Tables>;
  readonly #file: string;
  readonly #connection: SqliteConnection<Tables>;

  /** @throws DatabaseError with the fix */
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
    // In WAL mode, readers wait only while the file is recovered after a crash.
    this.kysely = new Kysely({
      dialect: new PatientSqliteDialect(
        { database: this.#connection },
        {
          assertUsable: () => {
            const problem = opened.problem();
            // The file gets no more writes, so waiting for changes would never end.
            if (problem !== undefined) throw new DatabaseError("FAILED_PRECONDITION", problem);
          },
        },
      ),
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
    // SQLITE_READONLY, SQLITE_CANTOPEN: in WAL mode, readers need the index, too.
    if ([8, 14].includes(errcode & 0xff)) {
      return new DatabaseError(
        "FAILED_PRECONDITION",
        `user ${process.getuid?.()} cannot read ${this.name}: run as the user of the service, or copy a database that is not in use into your own folder; a reader must be able to open or create the files -wal and -shm, too`,
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
