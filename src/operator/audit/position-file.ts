import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { OperatorError } from "../operator-error.ts";

/** How often a position is written at most, in milliseconds. */
const INTERVAL = 1000;

/** A file that keeps how far a follower has come; never half of a position. */
export class PositionFile {
  readonly #file: string;
  #kept: string | undefined;
  #written: string | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(file: string) {
    this.#file = file;
  }

  /** The position in it; undefined where it is yet to be made. */
  read(): string | undefined {
    try {
      return readFileSync(this.#file, "utf8").trim() || undefined;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return undefined;
      throw new OperatorError(`the position file ${this.#file} cannot be read: ${message}`);
    }
  }

  keep(position: string): void {
    this.#kept = position;
    if (performance.now() - this.#writtenAt >= INTERVAL) this.flush();
  }

  /** Writes what is kept. */
  flush(): void {
    if (this.#kept === undefined || this.#kept === this.#written) return;
    try {
      const next = `${this.#file}.next`;
      writeFileSync(next, `${this.#kept}\n`);
      renameSync(next, this.#file);
    } catch (error) {
      throw new OperatorError(
        `the position file ${this.#file} cannot be written: ${(error as Error).message}`,
      );
    }
    this.#written = this.#kept;
    this.#writtenAt = performance.now();
  }
}
