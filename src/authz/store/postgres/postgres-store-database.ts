import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CompiledQuery, type Kysely } from "kysely";
import type { Pool } from "pg";
import { createSchema } from "../../../database/postgres/create-schema.ts";
import type { PostgresAddress } from "../../../database/postgres/postgres-address.ts";
import { explainPostgres } from "../../../database/postgres/postgres-errors.ts";
import {
  kyselyOverClient,
  kyselyOverPool,
  openPool,
} from "../../../database/postgres/postgres-pool.ts";
import { assertRights, type TableRights } from "../../../database/postgres/postgres-rights.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import type { StoreConnections } from "../../engine/engine.ts";
import { heldError, type LockHolder, parseHolder } from "../ownership.ts";
import type { PoolSettings } from "../postgres-settings.ts";
import { type Snapshot, type StoreDatabase, storeError } from "../store-database.ts";
import type { Tables } from "../tables.ts";
import type { WriteBatch } from "../write-batch.ts";
import { type Backend, PostgresWriter } from "./postgres-writer.ts";

const SNAPSHOT = CompiledQuery.raw("begin isolation level repeatable read, read only");
/** A look is a round trip to the server. */
const LOOK_EVERY_MS = 1000;
/** A restart of the server, or a short network failure, does not refuse checks. */
const DOUBT_LIMIT_MS = 10_000;

/** A store in a schema of a PostgreSQL database. */
export class PostgresStoreDatabase implements StoreDatabase {
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
  /** The server process that had the lock last. */
  #previous: Backend | undefined;

  constructor(address: PostgresAddress, schema: string, settings: PoolSettings = {}) {
    const { max = 20, maxIdle = 10, lifetimeSeconds = 30 * 60 } = settings;
    this.name = `the PostgreSQL store ${address.place}`;
    this.#address = address;
    this.#schema = schema;
    // The writer has a connection of its own.
    this.#pool = openPool(address.config, { max: Math.max(1, max - 1), lifetimeSeconds });
    this.reader = kyselyOverPool(this.#pool, { schema, maxIdle });
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
      await createSchema(writer.kysely, this.#schema);
    } catch (error) {
      await this.#disconnect();
      throw this.explain(error);
    }
    return "taken";
  }

  assertRights(rights: TableRights): Promise<void> {
    return assertRights(this.writer, { name: this.name, schema: this.#schema, rights });
  }

  connections(): StoreConnections {
    const { totalCount: open, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { used: open - idle + (this.#writer === undefined ? 0 : 1), idle, waiting };
  }

  onLost(listener: () => void): void {
    this.#onLost = listener;
  }

  write(batch: WriteBatch): Promise<boolean> {
    return this.#connected().write(batch);
  }

  async snapshot(): Promise<Snapshot> {
    const client = await this.#pool.connect();
    const connection = kyselyOverClient<Tables>(client, this.#schema);
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
    if (error instanceof AuthzError) return error;
    return storeError(explainPostgres(error, this.name, this.#address));
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

/**
 * How often, and after how many milliseconds each, to retry a lock that our own previous connection
 * still has.
 */
const ATTEMPTS = 30;
const PAUSE = 100;

/**
 * Takes the lock of a store, a session advisory lock; a database has one for each schema. The
 * server may still consider an abandoned connection of ours as open, for hours if the network
 * broke: it is terminated.
 *
 * @returns whether it was taken
 */
export async function takeLock(
  writer: PostgresWriter,
  schema: string,
  previous: Backend | undefined,
): Promise<boolean> {
  // The connection may end between the two queries: only if it has is a lock that is still taken
  // another process's.
  let isPreviousGone = false;
  const key = createHash("sha256").update(`svc-access store ${schema}`).digest().readBigInt64BE();
  for (let attempt = 1; ; attempt++) {
    const rows = await writer.query<{ taken: boolean }>(
      "select pg_try_advisory_lock($1::bigint) as taken",
      [String(key)],
    );
    if (rows[0]?.taken === true) return true;
    if (previous === undefined || isPreviousGone || attempt === ATTEMPTS) return false;
    const ended = await writer.query(
      `select pg_terminate_backend(pid) from pg_locks join pg_stat_activity using (pid)
       where locktype = 'advisory' and objsubid = 1
       and (classid::bigint << 32) | objid::bigint = $1::bigint
       and pid = $2 and backend_start::text = $3`,
      [String(key), previous.pid, previous.start],
    );
    isPreviousGone = ended.length === 0;
    await sleep(PAUSE);
  }
}
