import { statSync } from "node:fs";

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

/** The file that is open by a name, which may come to be another one than that of the name. */
export class OpenedFile {
  readonly #path: string;
  #opened: string;
  readonly #mayCome: boolean;

  /**
   * @param path of a file that is open: until it is closed, no other one has its number
   * @param mayCome whether the file may be made later, by what is open already
   */
  constructor(path: string, mayCome = false) {
    this.#path = path;
    this.#opened = numberOf(path);
    this.#mayCome = mayCome;
  }

  /** Why what is written will not last: SQLite goes on with what has no name any more, and all of it is gone when it is closed. */
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
