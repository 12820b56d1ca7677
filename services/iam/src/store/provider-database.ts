import type { Kysely, Transaction } from "kysely";
import type { DatabaseKind } from "./column-types.ts";
import type { ProviderTables } from "./provider-tables.ts";

/** An opened database of the service, as far as the provider needs it. */
export interface OpenedDatabase {
  readonly kind: DatabaseKind;
  readonly kysely: Kysely<ProviderTables>;
  /** Explains an error of a query and its fix. */
  explain(error: unknown): Error;
}

/** The database does not answer. `oidc-provider` answers with its status, and nothing of its message. */
export class DatabaseUnavailable extends Error {
  /** Always `DatabaseUnavailable`. */
  override readonly name = "DatabaseUnavailable";
  /** The HTTP status. */
  readonly status = 503;
  /** The same. */
  readonly statusCode = 503;
  /** Whether callers may read the message. */
  readonly expose = false;
}

/** Statements and transactions of the provider; their errors say how to fix them. */
export class ProviderDatabase {
  readonly #database: OpenedDatabase;

  /** @param database the service's database; whoever opened it closes it */
  constructor(database: OpenedDatabase) {
    this.#database = database;
  }

  /** The kind of database. */
  get kind(): DatabaseKind {
    return this.#database.kind;
  }

  /** Runs a statement. */
  async run<T>(work: (db: Kysely<ProviderTables>) => Promise<T>): Promise<T> {
    try {
      return await work(this.#database.kysely);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** Runs statements in one transaction. */
  async transaction<T>(work: (tx: Transaction<ProviderTables>) => Promise<T>): Promise<T> {
    try {
      return await this.#database.kysely.transaction().execute(work);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  #explained(error: unknown): Error {
    const explained = this.#database.explain(error);
    const isDown = (explained as { code?: string }).code === "UNAVAILABLE";
    return isDown ? new DatabaseUnavailable(explained.message, { cause: explained }) : explained;
  }
}
