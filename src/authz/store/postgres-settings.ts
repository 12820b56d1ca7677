import type { ConnectionOptions } from "node:tls";

/**
 * How a PostgreSQL server is reached: the settings of `pg` that a store takes. They are declared
 * here, since users of this package need not have the types of `pg`.
 */
export interface PostgresConnection {
  /** `postgres://user:password@host:port/database`; the other settings go before it. */
  readonly connectionString?: string | undefined;
  /** The host, or the folder of a Unix socket. */
  readonly host?: string | undefined;
  /** The TCP port; 5432 if absent. */
  readonly port?: number | undefined;
  /** The name of the database. */
  readonly database?: string | undefined;
  /** The role that connects. */
  readonly user?: string | undefined;
  /** Its password, or a function that is called for each connection. */
  readonly password?: string | (() => string | Promise<string>) | undefined;
  /** Whether, and by which certificates, the connection has TLS: the options of `node:tls`. */
  readonly ssl?: boolean | ConnectionOptions | undefined;
  /** What `pg_stat_activity` shows of the connection. */
  readonly application_name?: string | undefined;
  /** Settings of the session, such as `-c geqo=off`. */
  readonly options?: string | undefined;
  /** How long connecting may take, in milliseconds. */
  readonly connectionTimeoutMillis?: number | undefined;
  /** After how long without a response the server is considered lost, in milliseconds. */
  readonly query_timeout?: number | undefined;
  /** After how long the server ends a statement, in milliseconds; false for never. */
  readonly statement_timeout?: false | number | undefined;
  /** After how long the server ends the wait for a lock, in milliseconds. */
  readonly lock_timeout?: number | undefined;
  /** After how long the server ends a transaction that does nothing, in milliseconds. */
  readonly idle_in_transaction_session_timeout?: number | undefined;
  /** Whether TCP probes an idle connection (keepalive). */
  readonly keepAlive?: boolean | undefined;
  /** After how long an idle connection is first probed, in milliseconds. */
  readonly keepAliveInitialDelayMillis?: number | undefined;
}

/** How many connections a store has. */
export interface PoolSettings {
  /** The most connections, the writer's among them; 20 if absent. */
  readonly max?: number;
  /** The most connections that are kept while they are idle; 10 if absent. */
  readonly maxIdle?: number;
  /** How long a connection is used, in seconds; 1800 if absent. The writer's, which has the lock, is not bounded. */
  readonly lifetimeSeconds?: number;
}
