import { basename, dirname, extname, join } from "node:path";

/**
 * The file of the relationships that belongs to a database: `iam.db` has `iam.relationships.db`.
 * They cannot share a file: SQLite lets only one connection write at a time, and two
 * connections in a process would block each other's thread while they wait.
 */
export function relationshipsFile(file: string): string {
  const extension = extname(file);
  return join(dirname(file), `${basename(file, extension)}.relationships${extension || ".db"}`);
}
