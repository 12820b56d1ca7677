import { setTimeout as sleep } from "node:timers/promises";
import type { Kysely } from "kysely";
import type { ClientConfig } from "pg";
import { Client } from "../../../common/drivers/pg.ts";
import { kyselyOverClient } from "../../../database/postgres/postgres-pool.ts";
import type { Tables } from "../tables.ts";
import type { WriteBatch } from "../write-batch.ts";
import { PostgresStatement } from "./postgres-statement.ts";

/** The identity of a server process; its number alone may be reused. */
export interface Backend {
  readonly pid: number;
  readonly start: string;
}

/**
 * An acknowledged commit is durable, and the lock is kept, regardless of the server's defaults. A
 * write finds its rows by their key, even if the server does not know yet how large the tables have
 * become; so its plan is made once.
 */
const SETTINGS = `select set_config(name, case
    when name = 'synchronous_commit' then 'on'
    when name = 'plan_cache_mode' then 'force_generic_plan'
    when name like '%timeout' then '0'
    else 'off'
  end, false)
  from pg_settings where name = 'synchronous_commit' and setting = 'off' or name in (
    'idle_session_timeout', 'statement_timeout', 'transaction_timeout',
    'plan_cache_mode', 'jit', 'enable_hashjoin', 'enable_mergejoin', 'enable_seqscan'
  )`;

/**
 * The one connection that writes. It has the session's lock, so that the lock is lost exactly when
 * nothing can be written any more, and writes under way are over before another process takes it.
 */
export class PostgresWriter {
  readonly kysely: Kysely<Tables>;
  backend: Backend | undefined;
  readonly #client: Client;
  readonly #statement: PostgresStatement;
  #ended = false;

  private constructor(client: Client, schema: string) {
    this.#client = client;
    this.kysely = kyselyOverClient(client, schema);
    this.#statement = new PostgresStatement(this.kysely);
    const end = () => {
      this.#ended = true;
    };
    client.on("error", end);
    client.on("end", end);
  }

  static async connect(config: ClientConfig, schema: string): Promise<PostgresWriter> {
    const writer = new PostgresWriter(new Client(config), schema);
    try {
      await writer.#client.connect();
      await writer.query(SETTINGS);
      const rows = await writer.query<Backend>(
        "select pid, backend_start::text as start from pg_stat_activity where pid = pg_backend_pid()",
      );
      writer.backend = rows[0];
      return writer;
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  /** Runs a statement about the session itself. */
  async query<Row extends object>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(sql, parameters)).rows;
  }

  /** Whether the connection, and with it the lock, is still there and in no transaction. */
  async isAlive(): Promise<boolean> {
    if (this.#ended) return false;
    try {
      await this.#client.query("select 1");
      return this.#client.getTransactionStatus() === "I";
    } catch {
      return false;
    }
  }

  /** Writes a batch; see `StoreDatabase.write`. */
  async write(batch: WriteBatch): Promise<boolean> {
    const { rowCount } = await this.#client.query(this.#statement.of(batch));
    return rowCount !== 0;
  }

  /** Registers a callback that is called when the connection breaks. */
  onEnd(listener: () => void): void {
    this.#client.once("end", listener);
  }

  async close(): Promise<void> {
    // A lost server does not answer the termination message.
    await Promise.race([
      this.#client.end().catch(() => undefined),
      sleep(1000, undefined, { ref: false }),
    ]);
  }
}
