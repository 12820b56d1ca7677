import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { Kysely, type Logger } from "kysely";
import type { Database, DatabaseRead, PoolStats } from "../database.ts";
import { DatabaseError } from "../database-error.ts";
import { PatientSqliteDialect, SqliteConnection } from "./sqlite-connection.ts";
import { explainSqlite, isOfProgram } from "./sqlite-errors.ts";
import { OpenedFile, prepareFile } from "./sqlite-file.ts";
import { createPrivately } from "./sqlite-lock.ts";
import { TurnReads } from "./turn-reads.ts";

/** Marks our files ("svcd"), so that databases of other programs are never written to. */
const APPLICATION_ID = 0x73766364;

/** A database in an SQLite file, in WAL mode, with a sync per commit. */
export class SqliteDatabase<Tables> implements Database<Tables> {
  readonly kind = "sqlite";
  readonly schema = undefined;
  readonly name: string;
  readonly kysely: Kysely<Tables>;
  readonly #file: string;
  readonly #connection: SqliteConnection<Tables>;
  readonly #opened: OpenedFile;
  readonly #reads: TurnReads;

  /** @throws DatabaseError FAILED_PRECONDITION or UNAVAILABLE, with the fix */
  constructor(file: string, log: Logger) {
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
      prepareFile(this.#connection, { file, applicationId: APPLICATION_ID, purpose: "database" });
    } catch (error) {
      this.#connection.close();
      throw this.explain(error);
    }
    const assertUsable = () => {
      const problem = this.#opened.problem();
      // An acknowledged write would be lost with the file.
      if (problem !== undefined) throw new DatabaseError("UNAVAILABLE", problem);
    };
    const explain = (error: unknown) => (isOfProgram(error) ? error : this.explain(error));
    const connection = this.#connection;
    const dialect = new PatientSqliteDialect({ database: connection }, { assertUsable, explain });
    this.kysely = new Kysely({ dialect, log });
    const isTaken = () => dialect.isTaken;
    this.#reads = new TurnReads({ connection, isTaken, assertUsable, log, explain });
  }

  read(read: DatabaseRead): void {
    this.#reads.read(read);
  }

  as<Others>(): Database<Others> {
    return this as unknown as Database<Others>;
  }

  async ready(): Promise<{ ready: boolean; reason?: string }> {
    try {
      // Not through Kysely, where it would queue behind a write that waits for another program's lock.
      // That lock does not block readers.
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
