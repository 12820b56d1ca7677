import { AuthzError } from "../../authz-error.ts";

/** Why a text does not name a file for a database: it means something else to SQLite, or to whoever wrote it. */
export function sqliteFileProblem(file: string): string | undefined {
  if (file.trim() === "") return "must name a file, and is empty";
  if (file.includes("\0")) return "must name a file, without NUL";
  if (/^:memory:/i.test(file)) {
    return "must name a file: what :memory: holds would be gone with the process";
  }
  if (/^file:/i.test(file))
    return "must be the path of a file, not a URI: leave out file: and what follows ?";
  return undefined;
}

/** @throws AuthzError INVALID_ARGUMENT where a text does not name a file */
export function assertSqliteFile(file: string, otherwise: string): void {
  const problem = sqliteFileProblem(file);
  if (problem !== undefined)
    throw new AuthzError("INVALID_ARGUMENT", `file ${problem}${otherwise}`);
}
