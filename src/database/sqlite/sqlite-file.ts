import { statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import type { DatabaseSettings } from "../database.ts";
import { DatabaseError } from "../database-error.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";
import { explainSqlite } from "./sqlite-errors.ts";

/** Why a text is not the path of a database file: SQLite or the user gives it another meaning. */
export function sqliteFileProblem(file: string): string | undefined {
  if (file.trim() === "") return "must not be empty: name a file";
  if (file.includes("\0")) return "must be the path of a file, without NUL";
  if (/^:memory:/i.test(file)) {
    return "must name a file: data in :memory: would be lost with the process";
  }
  if (/^file:/i.test(file))
    return "must be the path of a file, not a URI: leave out file: and everything after ?";
  return undefined;
}

/**
 * Whether a file has no database yet: opening it would create one.
 *
 * @throws DatabaseError with the fix, if that cannot be known
 */
export function isAbsentFile(file: string): boolean {
  try {
    return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
  } catch (error) {
    throw explainSqlite(error, file);
  }
}

/**
 * Whether the database of a configuration is a file that has none yet.
 *
 * @throws DatabaseError with the fix, if that cannot be known
 */
export function isAbsentDatabase({ driver, file }: DatabaseSettings): boolean {
  return driver === "sqlite" && file !== undefined && isAbsentFile(file);
}

/** An open file, whose name may later refer to another file. */
export class OpenedFile {
  readonly #path: string;
  #opened: string;
  readonly #mayCome: boolean;

  /**
   * @param path - the path of an open file: until it is closed, no other file gets its inode number
   * @param mayCome - whether the open connection may create the file later
   */
  constructor(path: string, mayCome = false) {
    this.#path = path;
    this.#opened = numberOf(path);
    this.#mayCome = mayCome;
  }

  /** Why writes would be lost: SQLite continues with a deleted file, whose content is lost when it is closed. */
  problem(): string | undefined {
    const number = numberOf(this.#path);
    if (number === this.#opened && number !== "") return undefined;
    if (this.#mayCome && this.#opened === "") {
      this.#opened = number;
      return undefined;
    }
    return `${this.#path} was removed or replaced while it is open: restart the process`;
  }
}

function numberOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.dev}:${found.ino}`;
}

/** A file that belongs to this program. */
export interface OwnFile {
  /** The path, as the user wrote it. */
  readonly file: string;
  /** Marks the files of one purpose, so that databases of other programs are never written to. */
  readonly applicationId: number;
  /** The purpose of the file, for messages. */
  readonly purpose: "store" | "database";
}

/**
 * Marks a new file as ours, and makes each commit durable: WAL mode, with a sync per commit.
 *
 * @throws DatabaseError FAILED_PRECONDITION if the file belongs to another program, or cannot use WAL mode
 */
export function prepareFile(
  connection: Pick<SqliteConnection<unknown>, "value" | "execute">,
  { file, applicationId, purpose }: OwnFile,
): void {
  if (connection.value("pragma application_id") !== applicationId) {
    if (connection.value("select 1 from sqlite_schema limit 1") !== undefined) {
      throw new DatabaseError(
        "FAILED_PRECONDITION",
        `${file} is a database of another program: use a separate file for the ${purpose}`,
      );
    }
    connection.execute(`pragma application_id = ${applicationId}`);
  }
  connection.execute("pragma journal_mode = wal; pragma synchronous = full");
  if (connection.value("pragma journal_mode") !== "wal") {
    throw new DatabaseError(
      "FAILED_PRECONDITION",
      `${file} is on a file system without shared memory, which WAL mode needs: use a local disk`,
    );
  }
}

/**
 * The file of the relationships that belongs to a database: `iam.db` has `iam.relationships.db`.
 * They cannot share a file: SQLite lets only one connection write at a time, and two
 * connections in a process would block each other's thread while they wait.
 */
export function relationshipsFile(file: string): string {
  const extension = extname(file);
  return join(dirname(file), `${basename(file, extension)}.relationships${extension || ".db"}`);
}
