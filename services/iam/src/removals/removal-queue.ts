import { type RawBuilder, type ServiceDatabase, sql } from "svc-access/database";
import { databaseTime } from "../store/database-time.ts";
import type { RemovalRow } from "../store/removal-tables.ts";
import type { IamTables } from "../store/tables.ts";
import type { RemovalKind, RemovalTransaction } from "./removal-kind.ts";

/**
 * How long after the last relationship was removed the record is deleted, if none has come since: a
 * write that began before the deletion may end after it, and another engine may be seen late.
 */
export const SETTLE_MS = 30_000;
/** How many removals are read at once. */
export const DUE_BATCH = 100;

const PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 600_000;

/** How many removals of a kind there are. */
export interface PendingRemovals {
  readonly count: number;
  /** How long ago the first of them began, in milliseconds. */
  readonly oldestMs: number;
}

/** What is left to remove, in the database, with times of its clock. */
export class RemovalQueue {
  readonly #database: ServiceDatabase<IamTables>;
  readonly #now: (() => number) | undefined;

  /** @param now milliseconds since the epoch, instead of the clock of the database; for tests */
  constructor(database: ServiceDatabase<IamTables>, now?: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** Adds an object, in a transaction. */
  async add(transaction: RemovalTransaction, kind: string, id: string): Promise<void> {
    const now = this.#time();
    await transaction
      .insertInto("iam_removals")
      .values({ kind, id, create_time: now, due_time: now, empty_time: null, failures: 0 })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** Those that are due, at most `DUE_BATCH`. */
  due(): Promise<RemovalRow[]> {
    return this.#database.kysely
      .selectFrom("iam_removals")
      .selectAll()
      .where("due_time", "<=", this.#time())
      .orderBy("due_time")
      .limit(DUE_BATCH)
      .execute();
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

  /** Deletes the record of an object without relationships, and remembers its id. */
  async finish({ kind, id }: RemovalRow, { objectType: type, deleteRecord }: RemovalKind) {
    await this.#database.inTransaction(async (tx) => {
      await deleteRecord(tx, id);
      await tx
        .insertInto("iam_former_ids")
        .values({ type, id, deleted_time: this.#time() })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      await tx.deleteFrom("iam_removals").where("kind", "=", kind).where("id", "=", id).execute();
    });
  }

  /** What is pending, by kind. */
  async pending(): Promise<ReadonlyMap<string, PendingRemovals>> {
    const rows = await this.#database.kysely
      .selectFrom("iam_removals")
      .select(({ fn }) => ["kind", fn.countAll().as("count"), fn.min("create_time").as("oldest")])
      .select(this.#time().as("now"))
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
    values: Readonly<Record<string, RawBuilder<number> | number>>,
  ): Promise<void> {
    await this.#database.kysely
      .updateTable("iam_removals")
      .set(values)
      .where("kind", "=", kind)
      .where("id", "=", id)
      .execute();
  }

  /** The time in so many milliseconds, by the clock that replicas share. */
  #time(after = 0): RawBuilder<number> {
    return sql<number>`${databaseTime(this.#database.kind, this.#now)} + ${sql.lit(after)}`;
  }
}
