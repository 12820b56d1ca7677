import { DatabaseError } from "../database-error.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";

/** A file of ours. */
export interface OwnFile {
  /** As its user names it. */
  readonly file: string;
  /** Marks the files of one purpose, so that another program's database is never written to. */
  readonly applicationId: number;
  /** What it is for, in messages. */
  readonly purpose: "store" | "database";
}

/**
 * Marks a new file as ours, and makes each commit durable: WAL, and every one is synced.
 *
 * @throws DatabaseError FAILED_PRECONDITION where the file belongs to another program, or cannot have a WAL
 */
export function prepareFile(
  connection: Pick<SqliteConnection<unknown>, "value" | "execute">,
  { file, applicationId, purpose }: OwnFile,
): void {
  if (connection.value("pragma application_id") !== applicationId) {
    if (connection.value("select 1 from sqlite_schema limit 1") !== undefined) {
      throw new DatabaseError(
        "FAILED_PRECONDITION",
        `${file} is a database of another program: name a file of its own for the ${purpose}`,
      );
    }
    connection.execute(`pragma application_id = ${applicationId}`);
  }
  connection.execute("pragma journal_mode = wal; pragma synchronous = full");
  if (connection.value("pragma journal_mode") !== "wal") {
    throw new DatabaseError(
      "FAILED_PRECONDITION",
      `${file} lies on a file system without shared memory for WAL: use a local disk`,
    );
  }
}
