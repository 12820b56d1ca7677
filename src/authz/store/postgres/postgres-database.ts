import { CompiledQuery, type Kysely } from "kysely";
import type { Pool } from "pg";
import { AuthzError } from "../../authz-error.ts";
import { heldError, type LockHolder, parseHolder } from "../lock-holder.ts";
import type { PoolSettings } from "../postgres-settings.ts";
import type { Snapshot, StoreDatabase } from "../store-database.ts";
import type { Tables } from "../tables.ts";
import type { WriteBatch } from "../write-batch.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { explainPostgres } from "./postgres-errors.ts";
import { kyselyOverClient, kyselyOverPool, openPool } from "./postgres-kysely.ts";
import { takeLock } from "./postgres-lock.ts";
import { assertRights, type TableRights } from "./postgres-rights.ts";
import { type Backend, PostgresWriter } from "./postgres-writer.ts";

const SNAPSHOT = CompiledQuery.raw("begin isolation level repeatable read, read only");
/** A look is a journey to the server. */
const LOOK_EVERY_MS = 1000;
/** A server that is started anew, or a short break of the network, refuses no check. */
const DOUBT_LIMIT_MS = 10_000;

/** A store in a schema of a PostgreSQL database. */
export class PostgresDatabase implements StoreDatabase {
  readonly kind = "postgres";
  readonly lookEveryMs = LOOK_EVERY_MS;
  readonly doubtLimitMs = DOUBT_LIMIT_MS;
  readonly name: string;
  readonly reader: Kysely<Tables>;
  readonly #address: PostgresAddress;
  readonly #schema: string;
  readonly #pool: Pool;
  #writer: PostgresWriter | undefined;
  #onLost: () => void = () => undefined;
  /** The server's process that had the lock last. */
  #previous: Backend | undefined;

  constructor(address: PostgresAddress, schema: string, settings?: PoolSettings) {
    this.name = `the PostgreSQL store ${address.place}`;
    this.#address = address;
    this.#schema = schema;
    this.#pool = openPool(address.config, settings);
    this.reader = kyselyOverPool(this.#pool, schema, settings);
  }

  get address(): string {
    return this.#address.url;
  }

  get writer(): Kysely<Tables> {
    return this.#connected().kysely;
  }

  async connect(): Promise<"held" | "taken"> {
    if (await this.#writer?.isAlive()) return "held";
    await this.#disconnect();
    try {
      const writer = await PostgresWriter.connect(this.#address.config, this.#schema);
      this.#writer = writer;
      writer.onEnd(() => {
        if (this.#writer === writer) this.#onLost();
      });
      if (!(await takeLock(writer, this.#schema, this.#previous))) {
        throw heldError(this.name, await readHolder(writer));
      }
      this.#previous = writer.backend;
      await this.#createSchema(writer);
    } catch (error) {
      await this.#disconnect();
      throw this.explain(error);
    }
    return "taken";
  }

  assertRights(rights: TableRights): Promise<void> {
    return assertRights(this.writer, { name: this.name, schema: this.#schema, rights });
  }

  onLost(listener: () => void): void {
    this.#onLost = listener;
  }

  write(batch: WriteBatch): Promise<boolean> {
    return this.#connected().write(batch);
  }

  async snapshot(): Promise<Snapshot> {
    const client = await this.#pool.connect();
    const connection = kyselyOverClient(client, this.#schema);
    // A snapshot is read once: its connection is not worth keeping in an unknown state.
    const close = async () => client.release(true);
    try {
      await connection.executeQuery(SNAPSHOT);
    } catch (error) {
      await close();
      throw error;
    }
    return { connection, close };
  }

  explain(error: unknown): AuthzError {
    return explainPostgres(error, this.name, this.#address);
  }

  async close(): Promise<void> {
    await this.#disconnect();
    if (!this.#pool.ended) await this.#pool.end();
  }

  #connected(): PostgresWriter {
    if (this.#writer !== undefined) return this.#writer;
    throw new AuthzError("UNAVAILABLE", `${this.name} is not connected: call recover`);
  }

  async #disconnect(): Promise<void> {
    const writer = this.#writer;
    this.#writer = undefined;
    await writer?.close();
  }

  /** Creates the schema; asks first, for `if not exists` needs the right to create also where it exists. */
  async #createSchema(writer: PostgresWriter): Promise<void> {
    const found = await writer.query("select 1 from pg_namespace where nspname = $1", [
      this.#schema,
    ]);
    if (found.length === 0) await writer.kysely.schema.createSchema(this.#schema).execute();
  }
}

/** Reads who holds the store. */
async function readHolder(writer: PostgresWriter): Promise<LockHolder | undefined> {
  try {
    const row = await writer.kysely.selectFrom("meta").select("holder").executeTakeFirst();
    return parseHolder(row?.holder);
  } catch {
    // It was locked only just now: its tables are yet to be made.
    return undefined;
  }
}
