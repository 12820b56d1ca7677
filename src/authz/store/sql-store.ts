import type { Relationship } from "../../model/relationship.ts";
import { AuthzError } from "../engine/authz-error.ts";
import type { StoreConnections } from "../engine/engine.ts";
import type { RelationshipStore, StoredChange } from "../engine/relationship-store.ts";
import type { RelationshipUpdate } from "../engine/requests.ts";
import {
  claim,
  lostError,
  type Ownership,
  readOwnership,
  readState,
  release,
} from "./ownership.ts";
import type { StoreDatabase } from "./store-database.ts";
import { decodeUpdates, fromRow, type RelationshipTable, readChanges, readPage } from "./tables.ts";
import { writeBatch } from "./write-batch.ts";

/** How many changes are kept for watchers by default. */
const DEFAULT_RETENTION = 100_000;
const BATCH = 10_000;
/** After how many writes old changes are removed. */
const FORGET_EVERY = 256;
/** After how many milliseconds a possibly lost lock is reported again. */
const REMIND_AFTER = 1000;

/** How long a look may take, in milliseconds. */
const LOOK_TIMEOUT = 2000;

/** A relationship store in an SQL database; the same for all of them. */
export class SqlStore implements RelationshipStore {
  readonly #database: StoreDatabase;
  readonly #retention: number;
  #ownership: Ownership;
  /** Why nothing can be committed until `recover`. */
  #broken: AuthzError | undefined;
  #closed = false;
  #onInterrupted: () => void = () => undefined;
  #reminder: NodeJS.Timeout | undefined;
  readonly #watch: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  /** Ends when all work on the writer that was asked for is done. */
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(database: StoreDatabase, retention: number, ownership: Ownership) {
    this.#database = database;
    this.#retention = retention;
    this.#ownership = ownership;
    database.onLost(() => this.#interrupted());
    this.#watch = setInterval(() => this.#lookAfter(), database.lookEveryMs).unref();
  }

  /** Opens the store in a database: takes its lock and makes or migrates its tables. */
  static async open(database: StoreDatabase, retention = DEFAULT_RETENTION): Promise<SqlStore> {
    if (!Number.isSafeInteger(retention) || retention < 1) {
      throw new AuthzError("INVALID_ARGUMENT", "retention must be a whole number of at least 1");
    }
    try {
      await database.connect();
      return new SqlStore(database, retention, await claim(database));
    } catch (error) {
      await database.close();
      throw database.explain(error);
    }
  }

  get doubtLimitMs(): number {
    return this.#database.doubtLimitMs;
  }

  get id(): string {
    return this.#ownership.storeId;
  }

  get address(): string {
    return this.#database.address;
  }

  get sequence(): number {
    return this.#ownership.head;
  }

  problem(): string | undefined {
    return this.#database.problem?.();
  }

  connections(): StoreConnections | undefined {
    return this.#database.connections?.();
  }

  async *load(): AsyncGenerator<readonly Relationship[], void, undefined> {
    const snapshot = await this.#explained(() => this.#database.snapshot());
    try {
      let last: RelationshipTable | undefined;
      do {
        const rows: readonly RelationshipTable[] = await this.#explained(() =>
          readPage(snapshot.connection, last, BATCH),
        );
        if (rows.length > 0) yield rows.map(fromRow);
        last = rows.length < BATCH ? undefined : rows.at(-1);
      } while (last !== undefined);
    } finally {
      await snapshot.close();
    }
  }

  commit(writes: readonly (readonly RelationshipUpdate[])[]): Promise<number> {
    return this.#enqueue(async () => {
      this.#assertOpen();
      // The outcome of an unfinished commit is unknown before `recover`.
      if (this.#broken !== undefined) throw this.#broken;
      try {
        await this.#write(writes);
      } catch (error) {
        this.#broken = this.#database.explain(error);
        throw this.#broken;
      }
      return this.sequence;
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
      readChanges(this.#database.reader, sequence, Math.min(limit, head - sequence)),
    );
    const first = rows[0];
    // A shorter retention earlier has removed more than this one would.
    if (first === undefined || Number(first.sequence) !== sequence + 1) return undefined;
    return rows.map((row) => ({
      sequence: Number(row.sequence),
      updates: decodeUpdates(row.updates),
    }));
  }

  recover(): Promise<void> {
    return this.#enqueue(async () => {
      this.#assertOpen();
      try {
        await this.#assertOwn();
        const lock = await this.#database.connect();
        this.#ownership =
          lock === "taken"
            ? this.#reclaimed(await claim(this.#database))
            : await readOwnership(this.#database, this.#ownership.epoch);
        this.#broken = undefined;
      } catch (error) {
        this.#broken = this.#database.explain(error);
        if (this.#broken.code === "UNAVAILABLE") this.#remind();
        throw this.#broken;
      }
    });
  }

  onInterrupted(listener: () => void): void {
    this.#onInterrupted = listener;
  }

  close(): Promise<void> {
    return this.#enqueue(async () => {
      if (this.#closed) return;
      this.#closed = true;
      clearTimeout(this.#reminder);
      clearInterval(this.#watch);
      if (this.#broken === undefined) await release(this.#database, this.#ownership.epoch);
      await this.#database.close();
    });
  }

  async #write(writes: readonly (readonly RelationshipUpdate[])[]): Promise<void> {
    const { head: before, epoch } = this.#ownership;
    const head = before + writes.length;
    const isDue = Math.floor(head / FORGET_EVERY) > Math.floor(before / FORGET_EVERY);
    const forgotten = isDue && head > this.#retention ? [head - this.#retention] : [];
    const done = await this.#database.write(writeBatch(writes, { before, epoch, forgotten }));
    if (!done) throw lostError(this.#database.name, undefined);
    this.#ownership = { ...this.#ownership, head };
  }

  /**
   * If another process had written meanwhile, its head would be mistaken for that of our unfinished
   * commit.
   */
  #reclaimed(ownership: Ownership): Ownership {
    const { epoch, head } = this.#ownership;
    if (ownership.epoch === epoch + 1 || ownership.head === head) return ownership;
    throw lostError(this.#database.name, undefined);
  }

  /** Checks whether this process still owns the store, even if it writes nothing. */
  #lookAfter(): void {
    if (this.#looking !== undefined || this.#broken !== undefined || this.#closed) return;
    let timeout: NodeJS.Timeout | undefined;
    // A lost server does not answer.
    const silence = new Promise<boolean>((resolve) => {
      timeout = setTimeout(resolve, LOOK_TIMEOUT, false).unref();
    });
    this.#looking = Promise.race([this.#isOwn().catch(() => false), silence]).then((isOwn) => {
      clearTimeout(timeout);
      this.#looking = undefined;
      if (!isOwn) this.#interrupted();
    });
  }

  async #isOwn(): Promise<boolean> {
    if (this.problem() !== undefined) return false;
    const { head: before } = this.#ownership;
    const found = await readState(this.#database.writer);
    const { epoch, head } = this.#ownership;
    return found.epoch === epoch && before <= found.head && found.head <= head;
  }

  /** The current holder is more useful in the message than the fact that the lock was removed. */
  async #assertOwn(): Promise<void> {
    const problem = this.problem();
    if (problem === undefined) return;
    try {
      await readOwnership(this.#database, this.#ownership.epoch);
    } catch (error) {
      if (error instanceof AuthzError && error.code === "FAILED_PRECONDITION") throw error;
    }
    throw new AuthzError("FAILED_PRECONDITION", problem);
  }

  /** Other processes may write now. Readers learn of it even if this process writes nothing. */
  #interrupted(): void {
    if (this.#closed) return;
    this.#broken ??= new AuthzError(
      "UNAVAILABLE",
      `it is unknown whether this process still owns ${this.#database.name}`,
    );
    this.#onInterrupted();
  }

  #remind(): void {
    clearTimeout(this.#reminder);
    this.#reminder = setTimeout(() => this.#interrupted(), REMIND_AFTER).unref();
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
