import { accessSync, constants, existsSync, statSync } from "node:fs";
import { DatabaseError, NoAnswerError } from "../database-error.ts";

/** Explains an error of an SQLite file and its fix. */
export function explainSqlite(error: unknown, file: string): DatabaseError {
  if (error instanceof DatabaseError) return error;
  if (error instanceof NoAnswerError) {
    return new DatabaseError(
      "UNAVAILABLE",
      `the store ${file} gave ${error.message}: check that its disk answers, and that no other program locks it`,
    );
  }
  const { code, errcode, message } = error as NodeJS.ErrnoException & { errcode?: number };
  const options = { cause: error };
  const refused = (text: string) => new DatabaseError("FAILED_PRECONDITION", text, options);
  const unavailable = (text: string) => new DatabaseError("UNAVAILABLE", text, options);
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return refused(`the folder of the store ${file} does not exist: create it`);
    case "ELOOP":
    case "ENAMETOOLONG":
      return refused(`the path of the store ${file} cannot be used (${code}): name another file`);
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return refused(
        `user ${process.getuid?.()} cannot write to the store ${file}: give them write access to the file and its folder`,
      );
    case "ENOSPC":
    case "EDQUOT":
      return unavailable(`the disk of the store ${file} is full: free disk space`);
    default:
  }
  // The low byte is the primary error code, the rest is a detail.
  switch ((errcode ?? 0) & 0xff) {
    case 5: // SQLITE_BUSY
      return unavailable(`the store ${file} is locked by another program: close it there`);
    case 8: // SQLITE_READONLY
    case 14: // SQLITE_CANTOPEN
      return refused(unwritable(file));
    case 11: // SQLITE_CORRUPT
      return refused(`the store ${file} is damaged: restore it from a backup`);
    case 13: // SQLITE_FULL
      return unavailable(`the disk of the store ${file} is full: free disk space`);
    case 26: // SQLITE_NOTADB
      return refused(`${file} is not an SQLite database: name another file for the store`);
    default:
      return unavailable(`the store ${file} fails: ${message ?? String(error)}`);
  }
}

/** The primary codes of errors of statements and their data: of SQL, its limits, constraints and types. */
const PROGRAM_CODES: ReadonlySet<number> = new Set([1, 18, 19, 20, 21, 25]);

/**
 * Whether an error is about the statement and its data, such as a unique violation, and not about
 * the database: the program handles it, or has a mistake.
 */
export function isOfProgram(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number };
  if (code === "ERR_SQLITE_ERROR") return PROGRAM_CODES.has((errcode ?? 0) & 0xff);
  // Node.js itself refuses values that SQLite does not have.
  return /^ERR_(INVALID_ARG|OUT_OF_RANGE)/.test(code ?? "");
}

/** The endings of the files of SQLite and of the lock that belong to a database file. */
const BESIDE = ["-lock", "-lock-journal", "-wal", "-shm"];

/** Finds the file that could not be opened, which SQLite does not name. */
function unwritable(file: string): string {
  if (isFolder(file)) return `the store ${file} is a folder: name a file in it`;
  const user = process.getuid?.();
  const beside = BESIDE.map((end) => `${file}${end}`).find(
    (path) => existsSync(path) && !isWritable(path),
  );
  return beside === undefined || !isWritable(file)
    ? `the store ${file} cannot be opened for writing: give user ${user} write access to the file and its folder`
    : `the store ${file} cannot be opened, as ${beside} belongs to another user: make user ${user} its owner`;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
