import { type Kysely, type LogConfig, sql } from "kysely";
import type { Pool } from "pg";
import { within } from "../../common/within.ts";
import type { Database, DatabaseSettings, PoolStats } from "../database.ts";
import { NoAnswerError } from "../database-error.ts";
import { type PostgresAddress, postgresAddress } from "./postgres-address.ts";
import { explainPostgres, isOfProgram, readOnlyReason } from "./postgres-errors.ts";
import { kyselyOverPool, openPool } from "./postgres-pool.ts";

const NANOSECONDS_PER_SECOND = 1_000_000_000;
/**
 * The time limit of `ready`, in milliseconds: within the one second of a readiness check
 * (`src/runtime/server/readiness.ts`), which otherwise could not say why.
 */
export const READY_TIMEOUT = 800;

/**
 * Makes acknowledged commits durable, regardless of the server's default. Statements written as text
 * find the tables without naming their schema, as in SQLite.
 */
const ON_CONNECT = `select set_config('search_path', format('%I, public', $1::text), false),
  case current_setting('synchronous_commit') when 'off'
    then set_config('synchronous_commit', 'on', false) end`;

const READ_ONLY = sql<{
  read_only: "on" | "off";
}>`select current_setting('transaction_read_only') as read_only`;

/** A schema of a PostgreSQL database, over a pool of connections. */
export class PostgresDatabase<Tables> implements Database<Tables> {
  readonly kind = "postgres";
  readonly schema: string;
  readonly name: string;
  readonly kysely: Kysely<Tables>;
  readonly #address: PostgresAddress;
  readonly #pool: Pool;
  readonly #settings: DatabaseSettings;

  /** @throws DatabaseError FAILED_PRECONDITION if the URL cannot be read */
  constructor(settings: DatabaseSettings, schema: string, log: LogConfig) {
    this.schema = schema;
    this.#settings = settings;
    this.#address = postgresAddress(settings.url as string);
    this.name = `the PostgreSQL database ${this.#address.place}`;
    const { max_open_conns: max, max_idle_conns: maxIdle, conn_max_lifetime_ns } = settings;
    this.#pool = openPool(this.#address.config, {
      max,
      lifetimeSeconds: Math.max(1, Math.round(conn_max_lifetime_ns / NANOSECONDS_PER_SECOND)),
      onConnect: async (client) => void (await client.query(ON_CONNECT, [schema])),
    });
    const explain = (error: unknown) => (isOfProgram(error) ? error : this.explain(error));
    this.kysely = kyselyOverPool(this.#pool, { schema, maxIdle, log, explain });
  }

  as<Others>(): Database<Others> {
    return this as unknown as Database<Others>;
  }

  async ready(): Promise<{ ready: boolean; reason?: string }> {
    try {
      const { rows } = await within(READ_ONLY.execute(this.kysely), READY_TIMEOUT, () => {
        throw new NoAnswerError(READY_TIMEOUT);
      });
      // A standby, such as a demoted primary, answers as well, but stores nothing.
      if (rows[0]?.read_only !== "on") return { ready: true };
      return { ready: false, reason: readOnlyReason(this.name) };
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
}
