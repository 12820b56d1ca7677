import { accessSync, constants, existsSync } from "node:fs";
import { DatabaseError } from "../database-error.ts";

/** Says what an error at an SQLite store means and how it is fixed. */
export function explainSqlite(error: unknown, file: string): DatabaseError {
  if (error instanceof DatabaseError) return error;
  const { code, errcode, message } = error as NodeJS.ErrnoException & { errcode?: number };
  const options = { cause: error };
  const refused = (text: string) => new DatabaseError("FAILED_PRECONDITION", text, options);
  const unavailable = (text: string) => new DatabaseError("UNAVAILABLE", text, options);
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return refused(`the folder of the store ${file} does not exist: create it`);
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return refused(
        `the store ${file} cannot be written to by user ${process.getuid?.()}: give it write access to the file and its folder`,
      );
    case "ENOSPC":
    case "EDQUOT":
      return unavailable(`the disk of the store ${file} is full: free some space`);
    default:
  }
  // The low byte is the kind of the error, the rest its detail.
  switch ((errcode ?? 0) & 0xff) {
    case 5: // SQLITE_BUSY
      return unavailable(`the store ${file} is locked by another program: close it there`);
    case 8: // SQLITE_READONLY
    case 14: // SQLITE_CANTOPEN
      return refused(unwritable(file));
    case 11: // SQLITE_CORRUPT
      return refused(`the store ${file} is damaged: restore it from a backup`);
    case 13: // SQLITE_FULL
      return unavailable(`the disk of the store ${file} is full: free some space`);
    case 26: // SQLITE_NOTADB
      return refused(`${file} is not an SQLite database: name another file for the store`);
    default:
      return unavailable(`the store ${file} fails: ${message ?? String(error)}`);
  }
}

/** What SQLite and the lock keep beside a file. */
const BESIDE = ["-lock", "-lock-journal", "-wal", "-shm"];

/** Names the file that is meant: SQLite does not say which of them it could not open. */
function unwritable(file: string): string {
  const user = process.getuid?.();
  const beside = BESIDE.map((end) => `${file}${end}`).find(
    (path) => existsSync(path) && !isWritable(path),
  );
  return beside === undefined || !isWritable(file)
    ? `the store ${file} cannot be opened for writing: give user ${user} write access to the file and its folder`
    : `the store ${file} cannot be opened, for ${beside} belongs to another user: make user ${user} its owner`;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
