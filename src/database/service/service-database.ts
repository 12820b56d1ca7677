import type { Kysely, Transaction } from "kysely";
import type { Database, DatabaseKind, PoolStats } from "../database.ts";
import type { ColumnTypes } from "../tables.ts";
import { COLUMN_TYPES } from "../tables.ts";
import { type BuildRead, CompiledRead, type PreparedRead } from "./prepared-read.ts";
import { type DatabaseParts, keepParts, type ServerDatabase } from "./server-database.ts";
import { type TransactionOptions, Transactions } from "./transactions.ts";

/**
 * The open database of a service: the same interface for SQLite and PostgreSQL. Made by
 * `openServiceDatabase`.
 *
 * @typeParam Tables - the tables, as types of Kysely
 */
export interface ServiceDatabase<Tables> extends ServerDatabase {
  /** The kind of the database. */
  readonly kind: DatabaseKind;
  /** The types of columns that differ between the kinds. */
  readonly columnTypes: ColumnTypes;
  /**
   * For single statements: each is its own transaction, and durable once it has returned. In the work
   * of `inTransaction` they are refused.
   *
   * Errors that are about the database are a `DatabaseError`; thrown by a handler, it is answered with
   * 503 and only logged. Errors of a statement itself, such as a unique violation, are those of the driver.
   */
  readonly kysely: Kysely<Tables>;
  /**
   * Compiles a query that runs often, once for all its runs; a statement of `kysely` is compiled each time.
   * With SQLite the runs of one turn of the event loop also read together, unless another statement has the
   * connection. Each run sees what was stored before it, and in the work of `inTransaction` it is refused.
   *
   * @param build - builds the query from values that are not known yet: each is one SQL value, and not a
   * list. It names its columns
   * @throws TypeError for what is not a query, or selects all columns
   *
   * @example
   * ```ts
   * const byId = database.prepareRead((kysely, values: { readonly id: string }) =>
   *   kysely.selectFrom("topics").select(["id", "name"]).where("id", "=", values.id),
   * );
   * const topic = await byId.first({ id: "etl" });
   * ```
   */
  prepareRead<Values extends object, Row>(
    build: BuildRead<Tables, Values, Row>,
  ): PreparedRead<Values, Row>;
  /**
   * Runs statements in one transaction: all of them are stored, or none. Its work runs again if
   * others change the same rows at the same time (PostgreSQL), so it must have no other effects.
   * SQLite runs one transaction at a time, and every other statement waits for it: await nothing in
   * it but its statements.
   *
   * @param work - gets the transaction, and what it returns is returned; if it throws, everything
   * is rolled back and the error is thrown
   * @param options - isolation, attempts and the time limit
   * @throws DatabaseError UNAVAILABLE if the database does not answer, if it was tried too often or
   * took too long
   *
   * @example
   * ```ts
   * const name = await database.inTransaction(async (transaction) => {
   *   const topic = await transaction.selectFrom("topics").selectAll().executeTakeFirstOrThrow();
   *   await transaction.deleteFrom("topics").where("id", "=", topic.id).execute();
   *   return topic.name;
   * });
   * ```
   */
  inTransaction<Result>(
    work: (transaction: Transaction<Tables>) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
  /**
   * The same database for a part of the service that has other tables.
   *
   * @typeParam Others - its tables
   */
  as<Others>(): ServiceDatabase<Others>;
}

/** A database that is open, over the one of the runtime. */
export class OpenServiceDatabase<Tables> implements ServiceDatabase<Tables> {
  readonly kind: DatabaseKind;
  readonly name: string;
  readonly columnTypes: ColumnTypes;
  readonly kysely: Kysely<Tables>;
  readonly #database: Database<Tables>;
  readonly #transactions: Transactions<Tables>;
  #closing: Promise<void> | undefined;

  constructor(database: Database<Tables>, parts: Omit<DatabaseParts, "database">) {
    this.kind = database.kind;
    this.name = database.name;
    this.columnTypes = COLUMN_TYPES[database.kind];
    this.#database = database;
    this.#transactions = new Transactions(database);
    this.kysely = this.#transactions.outside();
    keepParts(this, { ...parts, database });
  }

  prepareRead<Values extends object, Row>(
    build: BuildRead<Tables, Values, Row>,
  ): PreparedRead<Values, Row> {
    return new CompiledRead(this.#database, build, () => this.#transactions.assertOutside());
  }

  inTransaction<Result>(
    work: (transaction: Transaction<Tables>) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result> {
    return this.#transactions.run(work, options);
  }

  as<Others>(): ServiceDatabase<Others> {
    return this as unknown as ServiceDatabase<Others>;
  }

  async ready(): Promise<string | undefined> {
    return (await this.#database.ready()).reason;
  }

  poolStats(): PoolStats {
    return this.#database.poolStats();
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#database.close());
  }
}
