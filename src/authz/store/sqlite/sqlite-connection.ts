import { DatabaseSync, type DatabaseSyncOptions, type SQLInputValue } from "node:sqlite";
import { Kysely, type SqliteDatabase, type SqliteStatement } from "kysely";
import type { Tables } from "../tables.ts";
import type { BusyPatience } from "./busy-patience.ts";
import { PatientSqliteDialect } from "./patient-dialect.ts";

/** An open SQLite file: `node:sqlite` as Kysely's SQLite dialect asks for it. */
export class SqliteConnection implements SqliteDatabase {
  /** Not to be destroyed: that leaves a file open which was not used yet. */
  readonly kysely: Kysely<Tables>;
  readonly #database: DatabaseSync;
  /** Statements are prepared once. */
  readonly #statements = new Map<string, SqliteStatement>();

  /** @param patience how statements of `kysely` wait for another program's lock; all others fail at once */
  constructor(file: string, options: DatabaseSyncOptions = {}, patience?: BusyPatience) {
    // A wait of SQLite itself would stop the whole process.
    this.#database = new DatabaseSync(file, { ...options, timeout: 0 });
    this.kysely = new Kysely({ dialect: new PatientSqliteDialect({ database: this }, patience) });
  }

  /** Runs statements that change settings. */
  execute(sql: string): void {
    this.#database.exec(sql);
  }

  /** The first value that a statement gives. */
  value(sql: string): unknown {
    return Object.values(this.#database.prepare(sql).get() ?? {})[0];
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  prepare(sql: string): SqliteStatement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    const prepared: SqliteStatement = {
      reader: statement.columns().length > 0,
      all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
      run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
      iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
    };
    this.#statements.set(sql, prepared);
    return prepared;
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }
}
