import type { Kysely } from "kysely";

/** The kinds of database. */
export const DATABASE_KINDS = ["sqlite", "postgres"] as const;

/** A kind of database. */
export type DatabaseKind = (typeof DATABASE_KINDS)[number];

/** `database` of a service's configuration, by the names of the file. */
export interface DatabaseSettings {
  readonly driver: DatabaseKind;
  /** The file of SQLite. */
  readonly file?: string | undefined;
  /** The URL of PostgreSQL; holds a secret. */
  readonly url?: string | undefined;
  readonly max_open_conns: number;
  readonly max_idle_conns: number;
  readonly conn_max_lifetime_ns: number;
  readonly slow_query_threshold_ns: number;
}

/** The connections of a database, for metrics. */
export interface PoolStats {
  readonly open: number;
  readonly idle: number;
  /** How many wait for a connection. */
  readonly waiting: number;
  readonly max: number;
}

/**
 * An open database: the same for SQLite and PostgreSQL, for tables of any kind.
 *
 * @typeParam Tables - the tables, as Kysely has them
 */
export interface Database<Tables> {
  readonly kind: DatabaseKind;
  /** The schema of its tables in PostgreSQL. */
  readonly schema: string | undefined;
  /** What it is called in messages: no secret. */
  readonly name: string;
  /**
   * For queries. Each statement by itself is a transaction, and durable once it is
   * acknowledged. SQLite has one connection: a transaction of many steps keeps all others waiting.
   */
  readonly kysely: Kysely<Tables>;
  /** The same database for other tables. */
  as<Others>(): Database<Others>;
  /** Whether it answers now, and why not. */
  ready(): Promise<{ readonly ready: boolean; readonly reason?: string }>;
  /** Says what an error of a query means and how it is fixed; for the log, not for callers. */
  explain(error: unknown): Error;
  poolStats(): PoolStats;
  close(): Promise<void>;
}
