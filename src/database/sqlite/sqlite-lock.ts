import { closeSync, existsSync, fchownSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { OpenedFile } from "./sqlite-file.ts";

/**
 * The exclusive lock of a store: a transaction that stays open on an empty
 * database next to it. The kernel releases it with the process, even after
 * `kill -9`, and other programs can still read and back up the store.
 */
export class SqliteLock {
  readonly #database: DatabaseSync;
  readonly #opened: OpenedFile;

  private constructor(database: DatabaseSync, file: string) {
    this.#database = database;
    this.#opened = new OpenedFile(file);
  }

  /** Why it no longer excludes others; undefined if it does. */
  problem(): string | undefined {
    return this.#opened.problem();
  }

  /** Takes the lock in a file next to a store; undefined if another process holds it. */
  static take(file: string, store: string): SqliteLock | undefined {
    createPrivately(file, store);
    const database = new DatabaseSync(file);
    try {
      database.exec("begin exclusive");
      return new SqliteLock(database, file);
    } catch (error) {
      database.close();
      if ((error as { errcode?: number }).errcode === BUSY) return undefined;
      throw error;
    }
  }

  release(): void {
    this.#database.close();
  }
}

const BUSY = 5;

/**
 * Creates a file that only its owner can read; SQLite gives its journals the same
 * mode and owner. An existing file is not opened: closing it would release the
 * locks that SQLite has on it in this process.
 *
 * @param beside - if root, such as an operator, creates the file, it gets the owner of this file or else of the folder
 */
export function createPrivately(file: string, beside = file): void {
  const like = beside !== file && existsSync(beside) ? beside : dirname(file);
  try {
    const created = openSync(file, "wx", 0o600);
    try {
      if (process.getuid?.() === 0) giveTo(like, created);
    } finally {
      closeSync(created);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Otherwise, the service could not open it: it rarely runs as root. */
function giveTo(like: string, created: number): void {
  const { uid, gid } = statSync(like);
  try {
    if (uid !== 0) fchownSync(created, uid, gid);
  } catch {
    // In some containers, root may not change owners. Then a process that cannot open the file reports it.
  }
}
