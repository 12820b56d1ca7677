import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type CompiledQuery, Kysely, type Logger } from "kysely";
import type { Database, PoolStats } from "../database.ts";
import { DatabaseError } from "../database-error.ts";
import { isBusy } from "./busy-patience.ts";
import type { ImmediateRead } from "./immediate-read.ts";
import { PatientSqliteDialect, SqliteConnection } from "./sqlite-connection.ts";
import { explainSqlite, isOfProgram } from "./sqlite-errors.ts";
import { OpenedFile, prepareFile } from "./sqlite-file.ts";
import { createPrivately } from "./sqlite-lock.ts";

/** Marks our files ("svcd"), so that databases of other programs are never written to. */
const APPLICATION_ID = 0x73766364;
/**
 * How long the file counts as the opened one for reads without waiting, in milliseconds: to look each time
 * would take as long as the read.
 */
const LOOK_EVERY_MS = 100;

/** A database in an SQLite file, in WAL mode, with a sync per commit. */
export class SqliteDatabase<Tables> implements Database<Tables> {
  readonly kind = "sqlite";
  readonly schema = undefined;
  readonly name: string;
  readonly kysely: Kysely<Tables>;
  readonly #file: string;
  readonly #connection: SqliteConnection<Tables>;
  readonly #opened: OpenedFile;
  readonly #dialect: PatientSqliteDialect;
  readonly #log: Logger;
  readonly #reads = new WeakMap<CompiledQuery, ImmediateRead>();
  /** When the file was the opened one, for reads without waiting. */
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** @throws DatabaseError FAILED_PRECONDITION or UNAVAILABLE, with the fix */
  constructor(file: string, log: Logger) {
    this.#file = file;
    this.#log = log;
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
    this.#dialect = new PatientSqliteDialect(
      { database: this.#connection },
      {
        assertUsable: () => this.#assertUsable(),
        explain: (error) => (isOfProgram(error) ? error : this.explain(error)),
      },
    );
    this.kysely = new Kysely({ dialect: this.#dialect, log });
  }

  /** A transaction would show what it has not stored yet, so reads wait for its end. */
  readNow(
    query: CompiledQuery,
    parameters: readonly unknown[],
    isFirst: boolean,
  ): readonly unknown[] | undefined {
    if (this.#dialect.isTaken) return undefined;
    const begin = performance.now();
    const queryDurationMillis = () => performance.now() - begin;
    try {
      if (begin - this.#lookedAt >= LOOK_EVERY_MS) {
        this.#assertUsable();
        this.#lookedAt = begin;
      }
      const rows = this.#read(query).rows(parameters, isFirst);
      void this.#log({ level: "query", query, queryDurationMillis: queryDurationMillis() });
      return rows;
    } catch (error) {
      // A statement of `kysely` waits for another program's lock.
      if (isBusy(error)) return undefined;
      void this.#log({ level: "error", error, query, queryDurationMillis: queryDurationMillis() });
      throw isOfProgram(error) ? error : this.explain(error);
    }
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

  #read(query: CompiledQuery): ImmediateRead {
    let read = this.#reads.get(query);
    if (read === undefined) {
      read = this.#connection.prepareRead(query.sql);
      this.#reads.set(query, read);
    }
    return read;
  }

  #assertUsable(): void {
    const problem = this.#opened.problem();
    // An acknowledged write would be lost with the file.
    if (problem !== undefined) throw new DatabaseError("UNAVAILABLE", problem);
  }
}
