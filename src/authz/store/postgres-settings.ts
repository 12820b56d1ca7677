import type { ConnectionOptions } from "node:tls";

/**
 * How a PostgreSQL server is reached: the settings of `pg` that a store takes. They are declared
 * here, since the types of `pg` are a package that whoever uses this one need not have.
 */
export interface PostgresConnection {
  /** `postgres://user:password@host:port/database`; the other settings go before it. */
  readonly connectionString?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly database?: string | undefined;
  readonly user?: string | undefined;
  /** A function is asked at each connection. */
  readonly password?: string | (() => string | Promise<string>) | undefined;
  readonly ssl?: boolean | ConnectionOptions | undefined;
  readonly application_name?: string | undefined;
  /** Such as `-c geqo=off`. */
  readonly options?: string | undefined;
  /** How long a connection may take to be made, in milliseconds. */
  readonly connectionTimeoutMillis?: number | undefined;
  /** After how long without an answer a server counts as lost, in milliseconds. */
  readonly query_timeout?: number | undefined;
  readonly statement_timeout?: false | number | undefined;
  readonly lock_timeout?: number | undefined;
  readonly idle_in_transaction_session_timeout?: number | undefined;
  readonly keepAlive?: boolean | undefined;
  readonly keepAliveInitialDelayMillis?: number | undefined;
}

/** How many connections a store has. */
export interface PoolSettings {
  /** The most connections, the writer's among them; 20 where absent. */
  readonly max?: number;
  /** The most connections that are kept while they are idle; 10 where absent. */
  readonly maxIdle?: number;
  /** How long a connection is used; 30 minutes where absent. The writer's, which has the lock, is not bounded. */
  readonly lifetimeSeconds?: number;
}
