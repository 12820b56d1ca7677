import { statSync } from "node:fs";

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

  /** Why writes would be lost: SQLite continues with a deleted file, whose content is gone when it is closed. */
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
