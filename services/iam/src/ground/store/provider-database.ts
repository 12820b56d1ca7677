import {
  DatabaseError,
  type DatabaseKind,
  type Kysely,
  type ServiceDatabase,
  type Transaction,
} from "svc-access/database";
import type { ProviderTables } from "./provider-tables.ts";

/** An opened database of the service, as far as the provider needs it. */
export type OpenedDatabase = Pick<
  ServiceDatabase<ProviderTables>,
  "kind" | "kysely" | "inTransaction"
>;

/**
 * The database does not answer. `oidc-provider` answers with its status, and nothing of its message; RPCs answer as
 * to other errors of the database.
 */
export class DatabaseUnavailable extends DatabaseError {
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

  /** @param database the database of the service, which its caller closes */
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
      throw asUnavailable(error);
    }
  }

  /** Runs statements in one transaction. */
  async transaction<T>(work: (tx: Transaction<ProviderTables>) => Promise<T>): Promise<T> {
    try {
      return await this.#database.inTransaction(work);
    } catch (error) {
      throw asUnavailable(error);
    }
  }
}

/** The error of a statement as `oidc-provider` answers it: 503 where the database does not answer. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof DatabaseError) || error instanceof DatabaseUnavailable) return error;
  return new DatabaseUnavailable(error.code, error.message, { cause: error });
}
