import { closeSync, openSync, renameSync, writeSync } from "node:fs";

const MOST_BYTES = 16 * 1024 * 1024;

/** A log on disk. A full one becomes `<file>.old`, in place of the one before. */
export class LogFile {
  readonly file: string;
  #descriptor: number;
  #bytes = 0;

  /** Begins an empty log. */
  constructor(file: string) {
    this.file = file;
    this.#descriptor = openSync(file, "w", 0o600);
  }

  write(chunk: Buffer): void {
    if (this.#bytes + chunk.length > MOST_BYTES) {
      closeSync(this.#descriptor);
      renameSync(this.file, `${this.file}.old`);
      this.#descriptor = openSync(this.file, "w", 0o600);
      this.#bytes = 0;
    }
    this.#bytes += writeSync(this.#descriptor, chunk);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
