import { AuthzError } from "../authz-error.ts";
import type { RelationshipUpdate, WriteOperation } from "../engine.ts";
import type { Relationship } from "../relationship.ts";
import type { RelationshipStore, StoredChange } from "../relationship-store.ts";
import { decodeUpdates, encodeUpdates } from "./change-updates.ts";
import { lostError } from "./lock-holder.ts";
import { claim, type Ownership, readOwnership, release } from "./ownership.ts";
import { Queries } from "./queries.ts";
import { fromRow, toValues } from "./relationship-row.ts";
import type { StoreDatabase } from "./store-database.ts";
import type { RelationshipTable } from "./tables.ts";

/** How many changes are kept for watchers where nothing else is asked for. */
export const DEFAULT_RETENTION = 100_000;
const BATCH = 10_000;
/** Old changes are removed once in so many writes. */
const FORGET_EVERY = 256;
/** The most writes that are committed together. */
const GROUP = 64;

/** A write that waits to be committed. */
interface PendingWrite {
  readonly updates: readonly RelationshipUpdate[];
  readonly resolve: (change: StoredChange) => void;
  readonly reject: (error: unknown) => void;
}

/** A relationship store in an SQL database; the same for all of them. */
export class SqlStore implements RelationshipStore {
  readonly #database: StoreDatabase;
  readonly #retention: number;
  #queries: Queries;
  #ownership: Ownership;
  /** Why nothing can be committed until `recover`. */
  #broken: AuthzError | undefined;
  #closed = false;
  /** The writes that wait for the one under way; they share a transaction, for its disk is what takes long. */
  #group: PendingWrite[] | undefined;
  /** Ends when all work on the writer that was asked for is done. */
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(database: StoreDatabase, retention: number, ownership: Ownership) {
    this.#database = database;
    this.#retention = retention;
    this.#ownership = ownership;
    this.#queries = new Queries(database.writer);
  }

  /** Opens the store in a database: takes its lock and makes or migrates its tables. */
  static async open(database: StoreDatabase, retention = DEFAULT_RETENTION): Promise<SqlStore> {
    if (!Number.isSafeInteger(retention) || retention < 1) {
      throw new AuthzError("INVALID_ARGUMENT", "retention is a whole number from 1 on");
    }
    try {
      await database.connect();
      return new SqlStore(database, retention, await claim(database));
    } catch (error) {
      await database.close();
      throw database.explain(error);
    }
  }

  get id(): string {
    return this.#ownership.storeId;
  }

  get sequence(): number {
    return this.#ownership.head;
  }

  async *load(): AsyncGenerator<readonly Relationship[], void, undefined> {
    const snapshot = await this.#explained(() => this.#database.snapshot());
    try {
      let last: RelationshipTable | undefined;
      do {
        const rows: readonly RelationshipTable[] = await this.#explained(() =>
          this.#queries.page(snapshot.connection, last, BATCH),
        );
        if (rows.length > 0) yield rows.map(fromRow);
        last = rows.length < BATCH ? undefined : rows.at(-1);
      } while (last !== undefined);
    } finally {
      await snapshot.close();
    }
  }

  commit(updates: readonly RelationshipUpdate[]): Promise<StoredChange> {
    return new Promise((resolve, reject) => {
      if (this.#group === undefined || this.#group.length === GROUP) {
        const group: PendingWrite[] = [];
        this.#group = group;
        void this.#enqueue(() => this.#commitGroup(group));
      }
      this.#group.push({ updates, resolve, reject });
    });
  }

  async changesAfter(
    sequence: number,
    limit: number,
  ): Promise<readonly StoredChange[] | undefined> {
    const { head } = this.#ownership;
    if (sequence >= head) return [];
    if (sequence < head - this.#retention) return undefined;
    const rows = await this.#explained(() =>
      this.#queries.changes(this.#database.reader, sequence, Math.min(limit, head - sequence)),
    );
    const first = rows[0];
    // A shorter retention before has removed more than this one would.
    if (first === undefined || Number(first.sequence) !== sequence + 1) return undefined;
    return rows.map((row) => ({
      sequence: Number(row.sequence),
      updates: decodeUpdates(row.updates),
    }));
  }

  recover(): Promise<void> {
    this.#group = undefined;
    return this.#enqueue(async () => {
      this.#assertOpen();
      try {
        const lock = await this.#database.connect();
        this.#queries = new Queries(this.#database.writer);
        this.#ownership =
          lock === "taken"
            ? await claim(this.#database)
            : await readOwnership(this.#database, this.#ownership.epoch);
        this.#broken = undefined;
      } catch (error) {
        this.#broken = this.#database.explain(error);
        throw this.#broken;
      }
    });
  }

  close(): Promise<void> {
    this.#group = undefined;
    return this.#enqueue(async () => {
      if (this.#closed) return;
      this.#closed = true;
      if (this.#broken === undefined) await release(this.#database, this.#ownership.epoch);
      await this.#database.close();
    });
  }

  /** Commits writes all or not at all; those behind a failed one would have failed anyhow. */
  async #commitGroup(group: readonly PendingWrite[]): Promise<void> {
    if (this.#group === group) this.#group = undefined;
    const { head } = this.#ownership;
    try {
      this.#assertOpen();
      // What an unfinished commit has left is not known before `recover`.
      if (this.#broken !== undefined) throw this.#broken;
      await this.#write(group.map(({ updates }) => updates));
    } catch (error) {
      const explained = this.#database.explain(error);
      if (!this.#closed) this.#broken = explained;
      for (const { reject } of group) reject(explained);
      return;
    }
    this.#ownership = { ...this.#ownership, head: head + group.length };
    for (const [index, { updates, resolve }] of group.entries()) {
      resolve({ sequence: head + index + 1, updates });
    }
  }

  async #write(writes: readonly (readonly RelationshipUpdate[])[]): Promise<void> {
    const queries = this.#queries;
    const { head: before, epoch } = this.#ownership;
    const head = before + writes.length;
    const run = writes.flatMap((updates, index) => {
      const valuesOf = (operation: WriteOperation) =>
        updates
          .filter((update) => update.operation === operation)
          .map((update) => toValues(update.relationship));
      return [
        ...queries.remove(valuesOf("DELETE")),
        ...queries.create(valuesOf("CREATE")),
        ...queries.touch(valuesOf("TOUCH")),
        queries.record(before + index + 1, head, epoch, encodeUpdates(updates)),
      ];
    });
    const isDue = Math.floor(head / FORGET_EVERY) > Math.floor(before / FORGET_EVERY);
    if (isDue && head > this.#retention) run.push(queries.forget(head - this.#retention));
    const done = await this.#database.write(queries.advance(before, head, epoch), run);
    if (!done) throw lostError(this.#database.name, undefined);
  }

  #assertOpen(): void {
    if (this.#closed) throw new AuthzError("UNAVAILABLE", `${this.#database.name} is closed`);
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  async #explained<T>(work: () => Promise<T>): Promise<T> {
    this.#assertOpen();
    try {
      return await work();
    } catch (error) {
      throw this.#database.explain(error);
    }
  }
}
