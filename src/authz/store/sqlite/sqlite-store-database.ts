import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CompiledQuery, type Kysely } from "kysely";
import { BusyPatience } from "../../../database/sqlite/busy-patience.ts";
import { SqliteConnection } from "../../../database/sqlite/sqlite-connection.ts";
import { explainSqlite } from "../../../database/sqlite/sqlite-errors.ts";
import { OpenedFile, prepareFile } from "../../../database/sqlite/sqlite-file.ts";
import { createPrivately, SqliteLock } from "../../../database/sqlite/sqlite-lock.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import { heldError, type LockHolder, parseHolder } from "../ownership.ts";
import { type Snapshot, type StoreDatabase, storeError } from "../store-database.ts";
import type { Tables } from "../tables.ts";
import type { WriteBatch } from "../write-batch.ts";
import { SqliteWrites } from "./sqlite-writes.ts";

/** Marks the files that are stores ("svca"), so that another program's database is never written to. */
const APPLICATION_ID = 0x73766361;
/** Together with the time until a loss of the store is detected, less than a second. */
const DOUBT_LIMIT_MS = 500;
const LOOK_EVERY_MS = 250;

/**
 * How long a check of the files is valid for writes, in milliseconds. A check costs a quarter of a
 * write. Data written in this time to a removed file is lost, like data written just before.
 */
const LOOK_COUNTS_MS = 10;

/** A store in an SQLite file. */
export class SqliteStoreDatabase implements StoreDatabase {
  readonly kind = "sqlite";
  readonly name: string;
  readonly lookEveryMs = LOOK_EVERY_MS;
  readonly doubtLimitMs = DOUBT_LIMIT_MS;
  readonly #file: string;
  readonly #maxPages: number | undefined;
  #lock: SqliteLock | undefined;
  #writer: SqliteConnection<Tables> | undefined;
  #writes: SqliteWrites | undefined;
  #reader: SqliteConnection<Tables> | undefined;
  #opened: readonly OpenedFile[] = [];
  /** When a write last verified that this process owns the files. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  /**
   * Shared by everything that waits for another program's lock, so that a reopened connection does
   * not wait again.
   */
  readonly #patience = new BusyPatience();

  /** `maxPages` bounds the file's size, as a full disk would. */
  constructor(file: string, maxPages?: number) {
    this.#file = file;
    this.#maxPages = maxPages;
    this.name = `the store ${file}`;
  }

  get address(): string {
    return this.#file;
  }

  get writer(): Kysely<Tables> {
    return this.#connected(this.#writer).kysely;
  }

  get reader(): Kysely<Tables> {
    return this.#connected(this.#reader).kysely;
  }

  async connect(): Promise<"held" | "taken"> {
    const problem = this.problem();
    // The file of this name is no longer the one that this process held.
    if (problem !== undefined) throw new AuthzError("FAILED_PRECONDITION", problem);
    // It can be opened, and read, also while it is locked.
    return this.#patience.run(
      () => this.#connect(),
      () => false,
    );
  }

  async #connect(): Promise<"held" | "taken"> {
    this.#disconnect();
    const held = this.#lock !== undefined;
    try {
      const file = resolveFile(this.#file);
      if (!held) {
        this.#lock = SqliteLock.take(`${file}-lock`, file);
        if (this.#lock === undefined) throw heldError(this.name, await readHolder(file));
      }
      createPrivately(file);
      this.#writer = new SqliteConnection(file, {}, this.#patience);
      this.#opened = [new OpenedFile(this.#file), new OpenedFile(`${file}-wal`, true)];
      this.#prepareWriter(this.#writer);
      this.#reader = openReader(file, this.#patience);
    } catch (error) {
      this.#disconnect();
      // The lock is kept: a full disk is not a reason to admit another process.
      if (!held) this.#releaseLock();
      throw this.explain(error);
    }
    return held ? "held" : "taken";
  }

  problem(): string | undefined {
    const lock = this.#lock?.problem();
    if (lock !== undefined) return lock;
    for (const opened of this.#opened) {
      const problem = opened.problem();
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** A file has no connection that could break. */
  onLost(): void {}

  async write(batch: WriteBatch): Promise<boolean> {
    // Its statements are prepared once the tables exist.
    const writes = (this.#writes ??= new SqliteWrites(this.#connected(this.#writer)));
    return this.#patience.run(() => {
      this.#assertOwnFiles();
      return writes.write(batch);
    });
  }

  async snapshot(): Promise<Snapshot> {
    const connection = openReader(resolveFile(this.#file), this.#patience);
    await connection.kysely.executeQuery(CompiledQuery.raw("begin"));
    return { connection: connection.kysely, close: async () => connection.close() };
  }

  explain(error: unknown): AuthzError {
    if (error instanceof AuthzError) return error;
    return storeError(explainSqlite(error, this.#file));
  }

  async close(): Promise<void> {
    this.#disconnect();
    this.#releaseLock();
  }

  /** Each write itself checks, by the epoch, whether another process has taken the store. */
  #assertOwnFiles(): void {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_COUNTS_MS) return;
    const problem = this.problem();
    if (problem !== undefined) throw new AuthzError("FAILED_PRECONDITION", problem);
    this.#lookedAt = now;
  }

  #releaseLock(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }

  #prepareWriter(writer: SqliteConnection<Tables>): void {
    prepareFile(writer, { file: this.#file, applicationId: APPLICATION_ID, purpose: "store" });
    if (this.#maxPages !== undefined) {
      writer.execute(`pragma max_page_count = ${this.#maxPages}`);
    }
  }

  #connected<Part>(part: Part | undefined): Part {
    if (part !== undefined) return part;
    throw new AuthzError("UNAVAILABLE", `${this.name} is not open: call recover`);
  }

  #disconnect(): void {
    const connections = [this.#reader, this.#writer];
    this.#reader = undefined;
    this.#writes = undefined;
    this.#writer = undefined;
    this.#opened = [];
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    for (const connection of connections) connection?.close();
  }
}

/** A file has one lock, regardless of links to it. */
function resolveFile(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return join(realpathSync(dirname(file)), basename(file));
  }
}

function openReader(file: string, patience?: BusyPatience): SqliteConnection<Tables> {
  return new SqliteConnection(file, { readOnly: true }, patience);
}

/** Reads the holder from the store, which the holder's lock allows. */
async function readHolder(file: string): Promise<LockHolder | undefined> {
  let connection: SqliteConnection<Tables> | undefined;
  try {
    connection = openReader(file);
    const row = await connection.kysely.selectFrom("meta").select("holder").executeTakeFirst();
    return parseHolder(row?.holder);
  } catch {
    // It was locked only just now: its tables are yet to be made.
    return undefined;
  } finally {
    connection?.close();
  }
}
