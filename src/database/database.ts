import type { CompiledQuery, Kysely } from "kysely";

/** The kinds of database. */
export const DATABASE_KINDS = ["sqlite", "postgres"] as const;

/** A kind of database. */
export type DatabaseKind = (typeof DATABASE_KINDS)[number];

/**
 * Whether several processes may use a database of a kind at once. They then share its clock, and their
 * transactions run side by side.
 */
export const IS_SHARED: Readonly<Record<DatabaseKind, boolean>> = { sqlite: false, postgres: true };

/** `database` of a service's configuration, with the names of the file. */
export interface DatabaseSettings {
  /** The kind of database. */
  readonly driver: DatabaseKind;
  /** The SQLite file. */
  readonly file?: string | undefined;
  /** The PostgreSQL URL; contains a secret. */
  readonly url?: string | undefined;
  /** The maximum number of connections. */
  readonly max_open_conns: number;
  /** The maximum number of idle connections. */
  readonly max_idle_conns: number;
  /** How long a connection is used, in nanoseconds. */
  readonly conn_max_lifetime_ns: number;
  /** The duration from which a statement is logged, in nanoseconds. */
  readonly slow_query_threshold_ns: number;
}

/** The connections of a database, for metrics. */
export interface PoolStats {
  /** The number of connections. */
  readonly open: number;
  /** The number of those that nothing uses. */
  readonly idle: number;
  /** The number of requests that wait for a connection. */
  readonly waiting: number;
  /** The maximum number of connections. */
  readonly max: number;
}

/** A query to read with others, and what receives its result. */
export interface DatabaseRead {
  /** It only reads, and names its columns; the same object each time, as it is prepared once. */
  readonly query: CompiledQuery;
  readonly parameters: readonly unknown[];
  /** Whether only the first row is needed. */
  readonly isFirst: boolean;
  /** @param rows undefined if the read has to wait for others: then run it with `kysely` */
  readonly resolve: (rows: readonly unknown[] | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * An open database, with the same interface for SQLite and PostgreSQL and for all tables.
 *
 * @typeParam Tables - the tables, as Kysely types
 */
export interface Database<Tables> {
  readonly kind: DatabaseKind;
  /** The schema of its tables in PostgreSQL. */
  readonly schema: string | undefined;
  /** Its name in messages, without secrets. */
  readonly name: string;
  /**
   * For queries. Each statement is its own transaction, and durable once it is acknowledged. SQLite
   * has one connection: a transaction of many steps blocks all other statements.
   */
  readonly kysely: Kysely<Tables>;
  /**
   * Reads together with the others of a turn of the event loop; absent in PostgreSQL.
   */
  read?(read: DatabaseRead): void;
  /** The same database for other tables. */
  as<Others>(): Database<Others>;
  /** Whether it answers now; otherwise, the reason. */
  ready(): Promise<{ readonly ready: boolean; readonly reason?: string }>;
  /** Explains an error of a query and its fix; for the log, not for callers. */
  explain(error: unknown): Error;
  poolStats(): PoolStats;
  close(): Promise<void>;
}

const NS_PER_MINUTE = 60_000_000_000;

/** The settings for read-only use: few connections, and no log of slow statements. */
export function readingSettings(
  place: Pick<DatabaseSettings, "driver" | "url" | "file">,
): DatabaseSettings {
  return {
    ...place,
    max_open_conns: 2,
    max_idle_conns: 1,
    conn_max_lifetime_ns: 30 * NS_PER_MINUTE,
    slow_query_threshold_ns: Number.MAX_SAFE_INTEGER,
  };
}
