import { DatabaseSync, type DatabaseSyncOptions, type SQLInputValue } from "node:sqlite";
import {
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteDialectConfig,
  type SqliteStatement,
} from "kysely";
import { BusyPatience } from "./busy-patience.ts";

/**
 * An open SQLite file: `node:sqlite` as Kysely's SQLite dialect asks for it.
 *
 * @typeParam Tables - the tables of `kysely`
 */
export class SqliteConnection<Tables> implements SqliteDatabase {
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

/** Kysely's dialect of SQLite, whose statements wait for another program's lock without keeping the process. */
export class PatientSqliteDialect extends SqliteDialect {
  readonly #patience: BusyPatience;

  readonly #assertUsable: () => void;

  /** @param assertUsable throws where a statement must not be made now */
  constructor(
    config: SqliteDialectConfig,
    patience = new BusyPatience(),
    assertUsable: () => void = () => undefined,
  ) {
    super(config);
    this.#patience = patience;
    this.#assertUsable = assertUsable;
  }

  override createDriver(): Driver {
    const driver = super.createDriver();
    const patience = this.#patience;
    const assertUsable = this.#assertUsable;
    const acquire = driver.acquireConnection.bind(driver);
    let known: DatabaseConnection | undefined;
    let patient: DatabaseConnection | undefined;
    driver.acquireConnection = async (options) => {
      const connection = await acquire(options);
      if (patient === undefined || known !== connection) {
        known = connection;
        patient = {
          executeQuery: (query, options) =>
            patience.run(() => {
              assertUsable();
              return connection.executeQuery(query, options);
            }, isWrite),
          streamQuery: (query, size, options) => connection.streamQuery(query, size, options),
        };
      }
      return patient;
    };
    return driver;
  }
}

/** Only statements that give no rows tell how many they changed. */
function isWrite({ numAffectedRows }: QueryResult<unknown>): boolean {
  return numAffectedRows !== undefined;
}
