import { DatabaseError } from "../database-error.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";

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
