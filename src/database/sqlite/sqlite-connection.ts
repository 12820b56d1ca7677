import {
  DatabaseSync,
  type DatabaseSyncOptions,
  type SQLInputValue,
  type StatementSync,
} from "node:sqlite";
import {
  type AbortableOperationOptions,
  CompiledQuery,
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
import { ImmediateRead } from "./immediate-read.ts";

/** Statements that change nothing stored, by how they begin. */
const CHANGES_NOTHING = /^(?:select|begin|rollback)\b/;

/**
 * An open SQLite file: `node:sqlite` with the interface of Kysely's SQLite dialect.
 *
 * @typeParam Tables - the tables of `kysely`
 */
export class SqliteConnection<Tables> implements SqliteDatabase {
  /** Do not destroy it: that would leave an unused file open. */
  readonly kysely: Kysely<Tables>;
  readonly #database: DatabaseSync;
  /** Statements are prepared once. */
  readonly #statements = new Map<string, SqliteStatement>();
  #dataVersion: StatementSync | undefined;
  /** As SQLite said it last. */
  #lastVersion: unknown;
  /** Whether a statement of this connection may have changed something since. */
  #hasWritten = true;
  /** Whether a statement of this connection has run since: what it read, `mayHaveChanged` must have seen. */
  #hasRun = true;

  /** @param patience - makes statements of `kysely` wait for another program's lock; all others fail at once */
  constructor(file: string, options: DatabaseSyncOptions = {}, patience?: BusyPatience) {
    // SQLite's own wait would block the whole process.
    this.#database = new DatabaseSync(file, { ...options, timeout: 0 });
    this.kysely = new Kysely({
      dialect: new PatientSqliteDialect({ database: this }, { patience }),
    });
  }

  /** Runs statements without results. */
  execute(sql: string): void {
    this.#hasRun = true;
    this.#hasWritten = true;
    this.#database.exec(sql);
  }

  /** Whether a statement of this connection has run since `mayHaveChanged`. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /**
   * Whether what is stored may have changed since this was asked last, by this connection or by another
   * one of any process. Do not ask within a transaction that has written.
   */
  mayHaveChanged(): boolean {
    // SQLite counts the changes of other connections only.
    this.#dataVersion ??= this.#database.prepare("pragma data_version");
    const version = this.#dataVersion.get()?.["data_version"];
    const isSame = version === this.#lastVersion && !this.#hasWritten;
    this.#lastVersion = version;
    this.#hasWritten = false;
    this.#hasRun = false;
    return !isSame;
  }

  /** The first value in the result of a statement. */
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
    const mayWrite = !CHANGES_NOTHING.test(sql);
    const run = <Result>(
      how: (...values: SQLInputValue[]) => Result,
      parameters: readonly unknown[],
    ): Result => {
      this.#hasRun = true;
      if (mayWrite) this.#hasWritten = true;
      return how.apply(statement, parameters as SQLInputValue[]);
    };
    const prepared: SqliteStatement = {
      reader: statement.columns().length > 0,
      all: (parameters) => run(statement.all, parameters),
      run: (parameters) => run(statement.run, parameters),
      iterate: (parameters) => run(statement.iterate, parameters),
    };
    this.#statements.set(sql, prepared);
    return prepared;
  }

  /** Prepares a query that names its columns. */
  prepareRead(sql: string): ImmediateRead {
    return new ImmediateRead(this.#database.prepare(sql));
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

/** What the statements of a `PatientSqliteDialect` do beside what SQLite does. */
export interface SqliteStatementRules {
  readonly patience?: BusyPatience | undefined;
  /** Throws if statements are not allowed now. */
  readonly assertUsable?: () => void;
  /** Replaces the errors of statements; they are thrown as they are if absent. */
  readonly explain?: (error: unknown) => unknown;
}

/** Kysely's SQLite dialect, whose statements wait for another program's lock without blocking the process. */
export class PatientSqliteDialect extends SqliteDialect {
  readonly #database: Pick<SqliteConnection<unknown>, "isTransaction">;
  readonly #rules: SqliteStatementRules;
  #isTaken = false;

  constructor(
    config: SqliteDialectConfig & {
      readonly database: SqliteDatabase & Pick<SqliteConnection<unknown>, "isTransaction">;
    },
    rules: SqliteStatementRules = {},
  ) {
    super(config);
    this.#database = config.database;
    this.#rules = rules;
  }

  /** Whether a statement or a transaction has the connection: others wait for its end. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  override createDriver(): Driver {
    const driver = super.createDriver();
    const { patience = new BusyPatience(), assertUsable, explain = (error) => error } = this.#rules;
    // A transaction that began with reading could not write if another program has written since.
    driver.beginTransaction = async (connection) => {
      await connection.executeQuery(CompiledQuery.raw("begin immediate"));
    };
    const rollback = driver.rollbackTransaction.bind(driver);
    driver.rollbackTransaction = async (connection) => {
      // On a full disk SQLite has already rolled back, and the error of the statement is the one to report.
      if (this.#database.isTransaction) await rollback(connection);
    };
    const acquire = driver.acquireConnection.bind(driver);
    let known: DatabaseConnection | undefined;
    let patient: DatabaseConnection | undefined;
    driver.acquireConnection = async (options) => {
      const connection = await acquire(options);
      this.#isTaken = true;
      if (patient === undefined || known !== connection) {
        known = connection;
        patient = {
          async executeQuery<Row>(query: CompiledQuery, options?: AbortableOperationOptions) {
            const execute = () => {
              assertUsable?.();
              return connection.executeQuery<Row>(query, options);
            };
            try {
              return await patience.run(execute, isWrite);
            } catch (error) {
              throw explain(error);
            }
          },
          async *streamQuery(query, size, options) {
            try {
              assertUsable?.();
              yield* connection.streamQuery(query, size, options);
            } catch (error) {
              throw explain(error);
            }
          },
        };
      }
      return patient;
    };
    const release = driver.releaseConnection.bind(driver);
    driver.releaseConnection = (connection, options) => {
      this.#isTaken = false;
      return release(connection, options);
    };
    return driver;
  }
}

/** Only statements without rows report the number of changes. */
function isWrite({ numAffectedRows }: QueryResult<unknown>): boolean {
  return numAffectedRows !== undefined;
}
