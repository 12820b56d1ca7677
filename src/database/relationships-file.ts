import { basename, dirname, extname, join } from "node:path";

/**
 * The file of the relationships beside a database: `iam.db` has `iam.relationships.db`.
 * They cannot be in one: SQLite lets one connection write, and two in a process
 * would each keep the thread from the other while they wait.
 */
export function relationshipsFile(file: string): string {
  const extension = extname(file);
  return join(dirname(file), `${basename(file, extension)}.relationships${extension || ".db"}`);
}
