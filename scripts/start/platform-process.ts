import { type ChildProcess, spawn } from "node:child_process";
import { LogFile } from "./log-file.ts";

/** A program of the platform. */
export interface Program {
  /** The name in messages. */
  readonly name: string;
  /** The file that Node.js runs. */
  readonly main: string;
  readonly args?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The file of its output. */
  readonly log: string;
}

/** Until a process that was asked to end is killed. Calls under way have 5 s. */
const PATIENCE_MS = 7000;
const LONGEST_REASON = 4096;
const PRELOAD = new URL("end-with-parent.ts", import.meta.url).href;

/**
 * A service in a process and process group of its own: Ctrl-C in a terminal reaches only this
 * process, which then asks each service once. A second signal would end a service at once.
 */
export class PlatformProcess {
  readonly name: string;
  /** How it has ended, once it has. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #log: LogFile;
  #reason = "";
  #hasEnded = false;

  constructor({ name, main, args = [], environment, log }: Program) {
    this.name = name;
    this.#log = new LogFile(log);
    this.#child = spawn(process.execPath, ["--import", PRELOAD, main, ...args], {
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: true,
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => this.#log.write(chunk));
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.#log.write(chunk);
      this.#reason = `${this.#reason}${chunk}`.slice(-LONGEST_REASON);
    });
    this.ended = new Promise((resolve) => {
      this.#child.once("error", (error) => this.#end(error.message, resolve));
      this.#child.once("close", (code, signal) => {
        this.#end(signal === null ? `exit code ${code}` : `${signal}`, resolve);
      });
    });
  }

  /** The exit code, once it has ended by itself. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** Asks it to end, and kills it with all that it has started if it does not. */
  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.kill("SIGTERM");
    const killer = setTimeout(() => this.#kill(), PATIENCE_MS);
    await this.ended;
    clearTimeout(killer);
  }

  #kill(): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#hasEnded) return;
    process.kill(-pid, "SIGKILL");
    process.stderr.write(`npm start: ${this.name} did not end within 7 s, and was killed\n`);
  }

  #end(how: string, resolve: (text: string) => void): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#log.close();
    const reason = this.#reason.trim();
    resolve(`${this.name} has ended (${how})${reason === "" ? "" : `: ${reason}`}`);
  }
}
