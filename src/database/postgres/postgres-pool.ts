import {
  Kysely,
  type LogConfig,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
} from "kysely";
import type { ClientBase, ClientConfig, PoolConfig } from "pg";
import { Pool } from "../../common/drivers/pg.ts";
import { breaksConnection } from "./postgres-errors.ts";

/** How a pool differs from those of `pg`'s defaults. */
export interface PoolLimits extends Pick<PoolConfig, "onConnect"> {
  /** The most connections. */
  readonly max: number;
  /** How long a connection is used. */
  readonly lifetimeSeconds: number;
}

/** How queries of a pool are made. */
export interface PoolQueries {
  /** The schema of the tables. */
  readonly schema: string;
  /** The most connections that are kept while they are idle, which `pg` itself does not bound. */
  readonly maxIdle: number;
  readonly log?: LogConfig;
}

/** Makes a pool of connections, which is empty until one is needed. */
export function openPool(
  config: ClientConfig,
  { max, lifetimeSeconds, onConnect }: PoolLimits,
): Pool {
  const pool = new Pool({
    ...config,
    max,
    maxLifetimeSeconds: lifetimeSeconds,
    // How many are idle is bounded when they are given back; time closes none.
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
    ...(onConnect === undefined ? {} : { onConnect }),
  });
  // A connection that breaks is replaced when one is needed; without listeners, one for idle
  // ones and one for those in use, it would end the process.
  const ignore = () => undefined;
  pool.on("error", ignore);
  pool.on("connect", (client) => void client.on("error", ignore));
  return pool;
}

/** Kysely over a pool. */
export function kyselyOverPool<Tables>(
  pool: Pool,
  { schema, maxIdle, log }: PoolQueries,
): Kysely<Tables> {
  const connect = async (): Promise<PostgresPoolClient> => {
    const client = await pool.connect();
    let isBroken = false;
    const query = (...parameters: unknown[]): unknown => {
      const result: unknown = Reflect.apply(client.query, client, parameters);
      if (result instanceof Promise) {
        result.catch((error) => {
          isBroken ||= breaksConnection(error);
        });
      }
      return result;
    };
    return {
      query: query as PostgresPoolClient["query"],
      release: () => client.release(isBroken || pool.idleCount >= maxIdle),
    };
  };
  return kyselyOver(schema, connect, log);
}

/** Kysely over one connection. */
export function kyselyOverClient<Tables>(client: ClientBase, schema: string): Kysely<Tables> {
  const connection: PostgresPoolClient = {
    query: client.query.bind(client) as PostgresPoolClient["query"],
    release: () => undefined,
  };
  return kyselyOver(schema, async () => connection);
}

function kyselyOver<Tables>(
  schema: string,
  connect: PostgresPool["connect"],
  log?: LogConfig,
): Kysely<Tables> {
  // Whoever made the connections ends them.
  const pool: PostgresPool = { options: {}, end: async () => undefined, connect };
  const dialect = new PostgresDialect({ pool });
  return new Kysely<Tables>({ dialect, ...(log === undefined ? {} : { log }) }).withSchema(schema);
}
