import { type RawBuilder, type Selectable, sql, type Transaction } from "kysely";
import { databaseTime } from "../../database/database-time.ts";
import type { ServiceDatabase } from "../../database/service/service-database.ts";
import type { RemovalTables } from "./removal-table.ts";

/**
 * How long after the last relationship was removed the record is deleted, if none has come since: a
 * write that began before the deletion may end after it, and another engine may be seen late.
 */
export const SETTLE_MS = 30_000;
/** How long a creation may take. */
export const CREATION_MS = 600_000;
/** How many removals are read at once. */
const DUE_BATCH = 100;

const PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 600_000;

/** A transaction over any tables of the database. */
// biome-ignore lint/suspicious/noExplicitAny: a service has types for its own tables only
export type AnyTransaction = Transaction<any>;

/** A row of the queue. */
export type RemovalRow = Selectable<RemovalTables["pending_removals"]>;

/** How many removals of a kind there are. */
export interface PendingRemovals {
  readonly count: number;
  /** How long ago the first of them began, in milliseconds. */
  readonly oldestMs: number;
}

/** What is left to remove, in the database, with times of its clock. */
export class RemovalQueue {
  readonly #database: ServiceDatabase<RemovalTables>;
  readonly #now: (() => number) | undefined;

  /** @param now milliseconds since the epoch, instead of the clock of the database; for tests */
  constructor(database: ServiceDatabase<RemovalTables>, now?: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** Adds an object, also one whose creation was not completed. */
  async add(transaction: AnyTransaction, kind: string, id: string): Promise<void> {
    const now = this.#time();
    const values = { create_time: now, due_time: now, creating: 0 };
    await tableIn(transaction)
      .insertInto("pending_removals")
      .values({ ...values, kind, id, empty_time: null, failures: 0 })
      .onConflict((conflict) =>
        conflict
          .columns(["kind", "id"])
          .doUpdateSet(values)
          .where("pending_removals.creating", "=", 1),
      )
      .execute();
  }

  /** Adds an object that is removed unless its creation is completed; its time begins again for a second call. */
  async addCreation(transaction: AnyTransaction, kind: string, id: string): Promise<void> {
    const due_time = this.#time(CREATION_MS);
    const create_time = this.#time();
    await tableIn(transaction)
      .insertInto("pending_removals")
      .values({ kind, id, create_time, due_time, creating: 1, empty_time: null, failures: 0 })
      .onConflict((conflict) =>
        conflict
          .columns(["kind", "id"])
          .doUpdateSet({ due_time })
          .where("pending_removals.creating", "=", 1),
      )
      .execute();
  }

  /** Takes away an object whose creation is complete. @returns false if it is being removed */
  async takeCreation(transaction: AnyTransaction, kind: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await tableIn(transaction)
      .deleteFrom("pending_removals")
      .where("kind", "=", kind)
      .where("id", "=", id)
      .where("creating", "=", 1)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** Those of some kinds that are due, at most `DUE_BATCH`. */
  async due(kinds: readonly string[]): Promise<readonly RemovalRow[]> {
    if (kinds.length === 0) return [];
    return this.#database.kysely
      .selectFrom("pending_removals")
      .selectAll()
      .where("due_time", "<=", this.#time())
      .where("kind", "in", kinds)
      .orderBy("due_time")
      .limit(DUE_BATCH)
      .execute();
  }

  /** Gives up a creation that is due. @returns false if it was completed, or has begun again, meanwhile */
  async giveUp({ kind, id }: RemovalRow): Promise<boolean> {
    const { numUpdatedRows } = await this.#database.kysely
      .updateTable("pending_removals")
      .set({ creating: 0, create_time: this.#time() })
      .where("kind", "=", kind)
      .where("id", "=", id)
      .where("creating", "=", 1)
      .where("due_time", "<=", this.#time())
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** There were relationships: it is looked at again after all others that are due. */
  lookAgain(row: RemovalRow): Promise<void> {
    return this.#change(row, { empty_time: null, due_time: this.#time(), failures: 0 });
  }

  /** It was cut off: all others that are due come first. */
  putLast(row: RemovalRow): Promise<void> {
    return this.#change(row, { due_time: this.#time() });
  }

  /** No relationship is left now: it is looked at once more. */
  settle(row: RemovalRow): Promise<void> {
    const due_time = this.#time(SETTLE_MS);
    return this.#change(row, { empty_time: this.#time(), due_time, failures: 0 });
  }

  /** It failed: it is tried again later, each time after a longer pause. */
  postpone(row: RemovalRow): Promise<void> {
    // PostgreSQL sends whole numbers of 64 bits as text.
    const failures = Number(row.failures) + 1;
    const pause = Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** Math.min(failures, 10));
    return this.#change(row, { due_time: this.#time(pause), failures });
  }

  /** Ends a removal in the transaction that deletes the record. */
  async finish(
    { kind, id }: RemovalRow,
    deleteRecord: (transaction: AnyTransaction, id: string) => Promise<void>,
  ): Promise<void> {
    await this.#database.inTransaction(async (transaction) => {
      await deleteRecord(transaction, id);
      await transaction
        .deleteFrom("pending_removals")
        .where("kind", "=", kind)
        .where("id", "=", id)
        .execute();
    });
  }

  /** What is being removed, by kind. */
  async pending(): Promise<ReadonlyMap<string, PendingRemovals>> {
    const rows = await this.#database.kysely
      .selectFrom("pending_removals")
      .select(({ fn }) => ["kind", fn.countAll().as("count"), fn.min("create_time").as("oldest")])
      .select(this.#time().as("now"))
      .where("creating", "=", 0)
      .groupBy("kind")
      .execute();
    return new Map(
      rows.map(({ kind, count, oldest, now }) => {
        const oldestMs = Math.max(0, Number(now) - Number(oldest));
        return [kind, { count: Number(count), oldestMs }];
      }),
    );
  }

  async #change(
    { kind, id }: RemovalRow,
    values: Readonly<Record<string, RawBuilder<number> | number | null>>,
  ): Promise<void> {
    await this.#database.kysely
      .updateTable("pending_removals")
      .set(values)
      .where("kind", "=", kind)
      .where("id", "=", id)
      .execute();
  }

  #time(afterMs = 0): RawBuilder<number> {
    return sql<number>`${databaseTime(this.#database.kind, this.#now)} + ${sql.lit(afterMs)}`;
  }
}

function tableIn(transaction: AnyTransaction): Transaction<RemovalTables> {
  return transaction;
}
