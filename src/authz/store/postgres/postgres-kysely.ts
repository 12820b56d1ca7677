import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from "kysely";
import { type ClientBase, type ClientConfig, Pool } from "pg";
import type { PoolSettings } from "../postgres-settings.ts";
import type { Tables } from "../tables.ts";
import { breaksConnection } from "./postgres-errors.ts";

/** Makes the pool that reads. */
export function openPool(config: ClientConfig, settings: PoolSettings = {}): Pool {
  const pool = new Pool({
    ...config,
    // The writer has one of its own.
    max: Math.max(1, (settings.max ?? 20) - 1),
    maxLifetimeSeconds: settings.lifetimeSeconds ?? 30 * 60,
    // How many are idle is bounded when they are given back; time closes none.
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  });
  // A connection that breaks is replaced when one is needed; without listeners, one for idle
  // ones and one for those in use, it would end the process.
  const ignore = () => undefined;
  pool.on("error", ignore);
  pool.on("connect", (client) => void client.on("error", ignore));
  return pool;
}

/** Kysely over a pool that keeps at most so many idle connections, which `pg` itself does not bound. */
export function kyselyOverPool(
  pool: Pool,
  schema: string,
  { maxIdle = 10 }: PoolSettings = {},
): Kysely<Tables> {
  return kyselyOver(schema, {
    options: {},
    end: async () => undefined,
    connect: async () => {
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
    },
  });
}

/** Kysely over one connection. */
export function kyselyOverClient(client: ClientBase, schema: string): Kysely<Tables> {
  const connection: PostgresPoolClient = {
    query: client.query.bind(client) as PostgresPoolClient["query"],
    release: () => undefined,
  };
  return kyselyOver(schema, {
    options: {},
    end: async () => undefined,
    connect: async () => connection,
  });
}

function kyselyOver(schema: string, pool: PostgresPool): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }).withSchema(schema);
}
