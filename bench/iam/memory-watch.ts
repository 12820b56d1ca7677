import { readFileSync } from "node:fs";

const EVERY_MS = 100;
const PAGE = 4096;

/** Watches how much memory another process has. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #peak = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#look(), EVERY_MS);
  }

  /** Forgets the peak. */
  begin(): void {
    this.#peak = this.now();
  }

  /** The most since `begin`, in bytes. */
  peak(): number {
    this.#look();
    return this.#peak;
  }

  /** What the process has now, in bytes. */
  now(): number {
    const [, resident = "0"] = readFileSync(`/proc/${this.#pid}/statm`, "utf8").split(" ");
    return Number(resident) * PAGE;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    this.#peak = Math.max(this.#peak, this.now());
  }
}
