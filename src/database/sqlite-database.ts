import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { Kysely, type LogConfig } from "kysely";
import { AuthzError } from "../authz/authz-error.ts";
import { OpenedFile } from "../authz/store/sqlite/opened-file.ts";
import { PatientSqliteDialect } from "../authz/store/sqlite/patient-dialect.ts";
import { SqliteConnection } from "../authz/store/sqlite/sqlite-connection.ts";
import { explainSqlite } from "../authz/store/sqlite/sqlite-errors.ts";
import { createPrivately } from "../authz/store/sqlite/sqlite-lock.ts";
import type { Database, PoolStats } from "./database.ts";

/** Marks the files that are ours ("svcd"), so that another program's database is never written to. */
const APPLICATION_ID = 0x73766364;

/** A database in an SQLite file: WAL, and each commit is synced. */
export class SqliteDatabase<Tables> implements Database<Tables> {
  readonly kind = "sqlite";
  readonly schema = undefined;
  readonly name: string;
  readonly kysely: Kysely<Tables>;
  readonly #file: string;
  readonly #connection: SqliteConnection;
  readonly #opened: OpenedFile;

  /** @throws AuthzError FAILED_PRECONDITION or UNAVAILABLE, which says the mend */
  constructor(file: string, log: LogConfig) {
    this.#file = file;
    this.name = `the database ${file}`;
    try {
      const path = resolve(file);
      createPrivately(join(realpathSync(dirname(path)), basename(path)));
      this.#connection = new SqliteConnection(path);
      this.#opened = new OpenedFile(file);
    } catch (error) {
      throw this.explain(error);
    }
    try {
      prepare(this.#connection, file);
    } catch (error) {
      this.#connection.close();
      throw this.explain(error);
    }
    this.kysely = new Kysely({
      dialect: new PatientSqliteDialect({ database: this.#connection }, undefined, () => {
        const problem = this.#opened.problem();
        // What would be acknowledged would be gone with the file.
        if (problem !== undefined) throw new AuthzError("UNAVAILABLE", problem);
      }),
      log,
    });
  }

  as<Others>(): Database<Others> {
    return this as unknown as Database<Others>;
  }

  async ready(): Promise<{ ready: boolean; reason?: string }> {
    try {
      // Not by Kysely: there it would wait after a write that waits for another program's lock, which
      // keeps no reader out.
      this.#connection.value("select 1 from sqlite_schema limit 1");
      const reason = this.#opened.problem();
      return reason === undefined ? { ready: true } : { ready: false, reason };
    } catch (error) {
      return { ready: false, reason: this.explain(error).message };
    }
  }

  explain(error: unknown): Error {
    return explainSqlite(error, this.#file);
  }

  poolStats(): PoolStats {
    return { open: 1, idle: 1, waiting: 0, max: 1 };
  }

  async close(): Promise<void> {
    this.#connection.close();
  }
}

function prepare(connection: SqliteConnection, file: string): void {
  if (connection.value("pragma application_id") !== APPLICATION_ID) {
    if (connection.value("select 1 from sqlite_schema limit 1") !== undefined) {
      throw new AuthzError(
        "FAILED_PRECONDITION",
        `${file} is a database of another program: name a file of its own for the database`,
      );
    }
    connection.execute(`pragma application_id = ${APPLICATION_ID}`);
  }
  connection.execute("pragma journal_mode = wal; pragma synchronous = full");
  if (connection.value("pragma journal_mode") !== "wal") {
    throw new AuthzError(
      "FAILED_PRECONDITION",
      `${file} lies on a file system without shared memory for WAL: use a local disk`,
    );
  }
}
