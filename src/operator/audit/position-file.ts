import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { OperatorError } from "../command/flags.ts";

/** How often a position is written at most, in milliseconds. */
const INTERVAL = 1000;
const RESTART =
  "delete the file and start again, with --from-start for every event that is kept, without it for what comes next";

/** A file that keeps how far a follower has come; never half of a position. */
export class PositionFile {
  readonly #file: string;
  #kept: string | undefined;
  #written: string | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(file: string) {
    this.#file = file;
  }

  /** The position in it; undefined if it is yet to be made. */
  read(): string | undefined {
    let text: string;
    try {
      text = readFileSync(this.#file, "utf8").trim();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return undefined;
      throw new OperatorError(`the position file ${this.#file} cannot be read: ${message}`);
    }
    if (text !== "") return text;
    throw new OperatorError(`the position file ${this.#file} is empty: ${RESTART}`);
  }

  /** The error of a position that cannot be gone on from, with the file that holds it; else undefined. */
  explain(error: unknown): OperatorError | undefined {
    const { code, message } = error as { code?: string; message?: string };
    if (code !== "INVALID_ARGUMENT" || !message?.startsWith("the position is")) return undefined;
    return new OperatorError(`the position file ${this.#file}: ${message}: ${RESTART}`);
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
      writeFileSync(next, `${this.#kept}\n`, { flush: true });
      renameSync(next, this.#file);
      // Else the machine may come up again with an earlier file, or none.
      syncFolder(dirname(this.#file));
    } catch (error) {
      throw new OperatorError(
        `the position file ${this.#file} cannot be written: ${(error as Error).message}`,
      );
    }
    this.#written = this.#kept;
    this.#writtenAt = performance.now();
  }
}

function syncFolder(folder: string): void {
  const opened = openSync(folder, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
