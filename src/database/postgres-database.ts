import { Kysely, type LogConfig, PostgresDialect, type PostgresPoolClient, sql } from "kysely";
import { Pool, type PoolClient } from "pg";
import { type PostgresAddress, postgresAddress } from "../authz/store/postgres/postgres-address.ts";
import { breaksConnection, explainPostgres } from "../authz/store/postgres/postgres-errors.ts";
import { within } from "../runtime/operation/within.ts";
import type { Database, DatabaseSettings, PoolStats } from "./database.ts";

const NANOSECONDS_PER_SECOND = 1_000_000_000;
/** How long the question whether the server answers may take, in milliseconds. */
const READY_TIMEOUT = 2000;

/** A commit that is acknowledged is durable, whatever the server's default is. */
const DURABLE = `select set_config('synchronous_commit', 'on', false)
  where current_setting('synchronous_commit') = 'off'`;

/** A schema of a PostgreSQL database, over a pool of connections. */
export class PostgresDatabase<Tables> implements Database<Tables> {
  readonly kind = "postgres";
  readonly schema: string;
  readonly name: string;
  readonly kysely: Kysely<Tables>;
  readonly #address: PostgresAddress;
  readonly #pool: Pool;
  readonly #settings: DatabaseSettings;

  /** @throws AuthzError FAILED_PRECONDITION where the URL cannot be read */
  constructor(settings: DatabaseSettings, schema: string, log: LogConfig) {
    this.schema = schema;
    this.#settings = settings;
    this.#address = postgresAddress(settings.url as string);
    this.name = `the PostgreSQL database ${this.#address.place}`;
    this.#pool = openPool(this.#address, settings);
    const dialect = new PostgresDialect({
      pool: {
        options: {},
        end: async () => undefined,
        connect: () => this.#connect(),
      },
    });
    this.kysely = new Kysely<Tables>({ dialect, log }).withSchema(schema);
  }

  as<Others>(): Database<Others> {
    return this as unknown as Database<Others>;
  }

  async ready(): Promise<{ ready: boolean; reason?: string }> {
    try {
      await within(sql`select 1`.execute(this.kysely), READY_TIMEOUT, () => {
        throw new Error(`no answer in ${READY_TIMEOUT} ms`);
      });
      return { ready: true };
    } catch (error) {
      return { ready: false, reason: this.explain(error).message };
    }
  }

  explain(error: unknown): Error {
    return explainPostgres(error, this.name, this.#address);
  }

  poolStats(): PoolStats {
    const { totalCount: open, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { open, idle, waiting, max: this.#settings.max_open_conns };
  }

  async close(): Promise<void> {
    if (!this.#pool.ended) await this.#pool.end();
  }

  async #connect(): Promise<PostgresPoolClient> {
    const client = await this.#pool.connect();
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
    // How many are idle `pg` itself does not bound.
    const isSpare = () => this.#pool.idleCount >= this.#settings.max_idle_conns;
    return {
      query: query as PostgresPoolClient["query"],
      release: () => client.release(isBroken || isSpare()),
    };
  }
}

function openPool(address: PostgresAddress, settings: DatabaseSettings): Pool {
  const pool = new Pool({
    ...address.config,
    max: settings.max_open_conns,
    maxLifetimeSeconds: Math.max(
      1,
      Math.round(settings.conn_max_lifetime_ns / NANOSECONDS_PER_SECOND),
    ),
    // Idle connections are bounded by number; time closes none.
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
    onConnect: async (client) => void (await client.query(DURABLE)),
  });
  // A connection that breaks is replaced when one is needed; without listeners, one
  // for idle ones and one for those in use, it would end the process.
  const ignore = () => undefined;
  pool.on("error", ignore);
  pool.on("connect", (client: PoolClient) => void client.on("error", ignore));
  return pool;
}
