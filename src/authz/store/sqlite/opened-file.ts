import { statSync } from "node:fs";

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
    return `${this.#path} was removed or replaced while it is open: start the process anew`;
  }
}

function numberOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.dev}:${found.ino}`;
}
