import { randomUUID } from "node:crypto";
import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Database } from "../../database/database.ts";
import { databaseTime } from "../../database/database-time.ts";
import type { KeyTables } from "./key-table.ts";

/** How long a key is known. */
export const KEEP_MS = 86_400_000;
/** How often a new run is tried where rows change at the same moment. */
const ATTEMPTS = 3;
/** How many expired rows are removed at once. */
const BATCH = 1000;

type Row = Selectable<KeyTables["idempotency_keys"]>;

/** What one call has to do. */
export type Attempt =
  | {
      /** It does the work. */
      readonly outcome: "run";
      /** Names this call to the store. */
      readonly run: string;
      readonly creationId: string;
    }
  /** An earlier call has succeeded; `response` is undefined where it was not kept. */
  | { readonly outcome: "done"; readonly response: Uint8Array | undefined }
  /** An earlier call with the key had another request. */
  | { readonly outcome: "other" }
  /** An earlier call is still under way. */
  | { readonly outcome: "busy" };

/** The keys of calls, in the database that all replicas share. */
export class StoredKeys {
  readonly #database: Database<KeyTables>;
  readonly #now: (() => number) | undefined;

  /** @param now milliseconds since the epoch, instead of the clock of the database; for tests */
  constructor(database: Database<KeyTables>, now?: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /**
   * Begins a call.
   *
   * @param patienceMs how long other calls with the key are refused while this one is under way
   */
  async begin(keyHash: string, requestHash: string, patienceMs: number): Promise<Attempt> {
    const run = randomUUID();
    const run_until = this.#time(patienceMs);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const creationId = randomUUID();
      const { numInsertedOrUpdatedRows = 0n } = await this.#keys()
        .insertInto("idempotency_keys")
        .values({
          key_hash: keyHash,
          request_hash: requestHash,
          creation_id: creationId,
          run,
          run_until,
          response: null,
          expire_time: this.#time(KEEP_MS),
        })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows > 0n) return { outcome: "run", run, creationId };
      const known = await this.#known(keyHash, requestHash, { run, run_until });
      if (known !== undefined) return known;
    }
    return { outcome: "busy" };
  }

  /** A call has succeeded. @param response undefined where it is not kept */
  async succeeded(keyHash: string, run: string, response: Uint8Array | undefined): Promise<void> {
    await this.#keys()
      .updateTable("idempotency_keys")
      .set({
        run: "",
        run_until: 0,
        response: response === undefined ? null : Buffer.from(response).toString("base64"),
      })
      .where("key_hash", "=", keyHash)
      .where("run", "=", run)
      .execute();
  }

  /** A call was refused, and has changed nothing: its key can be used again, with any request. */
  async refused(keyHash: string, run: string): Promise<void> {
    await this.#keys()
      .deleteFrom("idempotency_keys")
      .where("key_hash", "=", keyHash)
      .where("run", "=", run)
      .execute();
  }

  /** A call has failed, and may have changed something: the next one with the key continues. */
  async failed(keyHash: string, run: string): Promise<void> {
    await this.#keys()
      .updateTable("idempotency_keys")
      .set({ run_until: 0 })
      .where("key_hash", "=", keyHash)
      .where("run", "=", run)
      .execute();
  }

  /** Removes the keys that are no longer known. */
  async removeExpired(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const { numDeletedRows } = await this.#keys()
        .deleteFrom("idempotency_keys")
        .where("key_hash", "in", (keys) =>
          keys
            .selectFrom("idempotency_keys")
            .select("key_hash")
            .where("expire_time", "<=", this.#time())
            .limit(BATCH),
        )
        .executeTakeFirst();
      if (Number(numDeletedRows) < BATCH) return;
    }
  }

  /** What an earlier call with the key makes of this one; undefined to try again. */
  async #known(
    keyHash: string,
    requestHash: string,
    next: { readonly run: string; readonly run_until: RawBuilder<number> },
  ): Promise<Attempt | undefined> {
    const row = await this.#keys()
      .selectFrom("idempotency_keys")
      .selectAll()
      .select(this.#time().as("now"))
      .where("key_hash", "=", keyHash)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    // PostgreSQL sends whole numbers of 64 bits as text.
    const now = Number(row.now);
    if (Number(row.expire_time) <= now) return this.#forget(row);
    if (row.request_hash !== requestHash) return { outcome: "other" };
    if (row.run === "") return { outcome: "done", response: responseOf(row) };
    if (Number(row.run_until) > now) return { outcome: "busy" };
    const { numUpdatedRows } = await this.#keys()
      .updateTable("idempotency_keys")
      .set(next)
      .where("key_hash", "=", keyHash)
      .where("run", "=", row.run)
      .where("run_until", "=", row.run_until)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return undefined;
    return { outcome: "run", run: next.run, creationId: row.creation_id };
  }

  async #forget({ key_hash, creation_id }: Row): Promise<undefined> {
    await this.#keys()
      .deleteFrom("idempotency_keys")
      .where("key_hash", "=", key_hash)
      .where("creation_id", "=", creation_id)
      .execute();
    return undefined;
  }

  #keys() {
    return this.#database.kysely;
  }

  /** The time in so many milliseconds. Replicas on several machines have one clock in common. */
  #time(after = 0): RawBuilder<number> {
    const now = databaseTime(this.#database.kind, this.#now);
    return sql`${now} + ${sql.lit(Math.round(after))}`;
  }
}

function responseOf({ response }: Row): Uint8Array | undefined {
  return response === null ? undefined : Buffer.from(response, "base64");
}
