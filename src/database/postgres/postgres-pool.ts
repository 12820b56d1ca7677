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

/** The settings of a pool that differ from the defaults of `pg`. */
export interface PoolLimits extends Pick<PoolConfig, "onConnect"> {
  /** The maximum number of connections. */
  readonly max: number;
  /** The lifetime of a connection. */
  readonly lifetimeSeconds: number;
}

/** The settings for queries on a pool. */
export interface PoolQueries {
  /** The schema of the tables. */
  readonly schema: string;
  /** The maximum number of idle connections, which `pg` itself does not limit. */
  readonly maxIdle: number;
  readonly log?: LogConfig;
  /** Replaces the errors of connections and statements; they are thrown as they are if absent. */
  readonly explain?: (error: unknown) => unknown;
}

/** Opens a pool, which makes connections when they are needed. */
export function openPool(
  config: ClientConfig,
  { max, lifetimeSeconds, onConnect }: PoolLimits,
): Pool {
  const pool = new Pool({
    ...config,
    max,
    maxLifetimeSeconds: lifetimeSeconds,
    // `maxIdle` limits idle connections when they are released; no timeout closes them.
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
    ...(onConnect === undefined ? {} : { onConnect }),
  });
  // A broken connection is replaced when one is needed. Without listeners for idle and for used
  // connections, its error would end the process.
  const ignore = () => undefined;
  pool.on("error", ignore);
  pool.on("connect", (client) => void client.on("error", ignore));
  return pool;
}

/** Kysely over a pool. */
export function kyselyOverPool<Tables>(
  pool: Pool,
  { schema, maxIdle, log, explain = (error) => error }: PoolQueries,
): Kysely<Tables> {
  const connect = async (): Promise<PostgresPoolClient> => {
    const client = await pool.connect().catch((error: unknown) => {
      throw explain(error);
    });
    let isBroken = false;
    const query = (...parameters: unknown[]): unknown => {
      const result: unknown = Reflect.apply(client.query, client, parameters);
      if (!(result instanceof Promise)) return result;
      return result.then(
        (answer: unknown) => assertCommitted(parameters[0], answer),
        (error: unknown) => {
          isBroken ||= breaksConnection(error);
          throw explain(error);
        },
      );
    };
    return {
      query: query as PostgresPoolClient["query"],
      release: () => client.release(isBroken || pool.idleCount >= maxIdle),
    };
  };
  return kyselyOver(schema, connect, log);
}

/**
 * The server answers a commit with a rollback if a statement of the transaction has failed, which is
 * not an error for `pg`: what was acknowledged would be lost.
 */
function assertCommitted(statement: unknown, answer: unknown): unknown {
  if (statement !== "commit" || (answer as { command?: string }).command !== "ROLLBACK") {
    return answer;
  }
  throw new Error(
    "nothing of the transaction was stored, since one of its statements failed and its error was caught: let the error end the transaction, or prevent it with on conflict",
  );
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
  // The owner of the connection closes it.
  const pool: PostgresPool = { options: {}, end: async () => undefined, connect };
  const dialect = new PostgresDialect({ pool });
  return new Kysely<Tables>({ dialect, ...(log === undefined ? {} : { log }) }).withSchema(schema);
}
