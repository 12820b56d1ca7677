import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { OpenedFile } from "./opened-file.ts";

/**
 * The exclusive lock of a store: a transaction that stays open on an empty
 * database beside it. The kernel drops it with the process, also on `kill -9`,
 * and the store itself can still be read and backed up by other programs.
 */
export class SqliteLock {
  readonly #database: DatabaseSync;
  readonly #opened: OpenedFile;

  private constructor(database: DatabaseSync, file: string) {
    this.#database = database;
    this.#opened = new OpenedFile(file);
  }

  /** Why it keeps nobody out; undefined where it does. */
  problem(): string | undefined {
    return this.#opened.problem();
  }

  /** Takes the lock; undefined where another holds it. */
  static take(file: string): SqliteLock | undefined {
    createPrivately(file);
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
 * Creates a file that only its owner reads; SQLite gives its journals the same
 * mode. An existing file is not opened: closing it again would drop the locks
 * that SQLite has on it in this process.
 */
export function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
