import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { OperatorError } from "../command/flags.ts";

/** The minimum time between writes of a position, in milliseconds. */
const INTERVAL = 1000;
const RESTART =
  "delete the file and start again, with --from-start for all events that are kept, or without it for new events only";

/** A file with the position of a follower, which is replaced atomically. */
export class PositionFile {
  readonly #file: string;
  #kept: string | undefined;
  #written: string | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(file: string) {
    this.#file = file;
  }

  /** The position in it; undefined if the file does not exist. */
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

  /** Adds the name of the file to the error of an unusable position; undefined for other errors. */
  explain(error: unknown): OperatorError | undefined {
    const { code, message } = error as { code?: string; message?: string };
    if (code !== "INVALID_ARGUMENT" || !message?.startsWith("the position is")) return undefined;
    return new OperatorError(`the position file ${this.#file}: ${message}: ${RESTART}`);
  }

  keep(position: string): void {
    this.#kept = position;
    if (performance.now() - this.#writtenAt >= INTERVAL) this.flush();
  }

  /** Writes the pending position. */
  flush(): void {
    if (this.#kept === undefined || this.#kept === this.#written) return;
    try {
      const next = `${this.#file}.next`;
      writeFileSync(next, `${this.#kept}\n`, { flush: true });
      renameSync(next, this.#file);
      // Otherwise, after a crash of the machine, the file may be older or missing.
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
