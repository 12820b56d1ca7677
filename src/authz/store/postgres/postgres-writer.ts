import { setTimeout as sleep } from "node:timers/promises";
import type { CompiledQuery, Kysely } from "kysely";
import { Client, type ClientConfig, type QueryResult } from "pg";
import type { Tables } from "../tables.ts";
import { kyselyOverClient } from "./postgres-kysely.ts";

/** Who a server process is; its number alone may be used again. */
export interface Backend {
  readonly pid: number;
  readonly start: string;
}

/**
 * The one connection that writes. It has the session's lock, so that the lock
 * is lost exactly when nothing can be written any more, and what was under way
 * is over before another takes it.
 */
export class PostgresWriter {
  readonly kysely: Kysely<Tables>;
  backend: Backend | undefined;
  readonly #client: Client;
  readonly #names = new Map<string, string>();
  #ended = false;

  private constructor(client: Client, schema: string) {
    this.#client = client;
    this.kysely = kyselyOverClient(client, schema);
    const end = () => {
      this.#ended = true;
    };
    client.on("error", end);
    client.on("end", end);
  }

  static async connect(config: ClientConfig, schema: string): Promise<PostgresWriter> {
    // A commit sends its statements without waiting for the answer to each.
    const writer = new PostgresWriter(new Client({ ...config, pipeline: true }), schema);
    try {
      await writer.#client.connect();
      // An acknowledged commit is durable, and the lock is kept, whatever the server's defaults are.
      await writer.query(
        `select set_config(name, case name when 'synchronous_commit' then 'on' else '0' end, false)
         from pg_settings where name = 'synchronous_commit' and setting = 'off'
         or name in ('idle_session_timeout', 'statement_timeout', 'transaction_timeout')`,
      );
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

  /** Runs queries in one transaction, in two journeys; see `StoreDatabase.write`. */
  async write(fence: CompiledQuery, queries: readonly CompiledQuery[]): Promise<boolean> {
    // Sent with the others, a begin that fails would let each of them commit by itself.
    await this.#client.query("begin");
    const [fenced, ...results] = await Promise.allSettled([
      this.#run(fence),
      ...queries.map((query) => this.#run(query)),
      // Where a query fails, the server makes a rollback of it.
      this.#client.query("commit"),
    ]);
    const end = results.at(-1);
    if (end?.status === "fulfilled" && end.value.command === "COMMIT") return true;
    if (fenced.status === "fulfilled" && fenced.value.rowCount === 0) return false;
    for (const result of [fenced, ...results]) {
      if (result.status === "rejected") throw result.reason;
    }
    throw new Error("the commit was rolled back");
  }

  async close(): Promise<void> {
    // A server that is gone does not answer the goodbye.
    await Promise.race([
      this.#client.end().catch(() => undefined),
      sleep(1000, undefined, { ref: false }),
    ]);
  }

  #run({ sql, parameters }: CompiledQuery): Promise<QueryResult> {
    // Named statements are parsed once; Kysely's compiled ones are few.
    let name = this.#names.get(sql);
    if (name === undefined) {
      name = `store-${this.#names.size}`;
      this.#names.set(sql, name);
    }
    return this.#client.query({ name, text: sql, values: [...parameters] });
  }
}
