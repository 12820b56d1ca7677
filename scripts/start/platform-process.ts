import { type ChildProcess, spawn } from "node:child_process";
import { LogFile } from "./log-file.ts";
import type { PortReport } from "./port-report.ts";

/** A program of the platform. */
export interface Program {
  /** The name in messages. */
  readonly name: string;
  /** The file that Node.js runs. */
  readonly main: string;
  readonly args?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The ports that it listens on, all of them. */
  readonly ports: readonly number[];
  /** The file of its output. */
  readonly log: string;
}

/** Until a process that was asked to end is killed. Calls under way have 5 s. */
const PATIENCE_MS = 7000;
const LONGEST_REASON = 4096;
const PRELOADED = ["end-with-parent.ts", "report-ports.ts"].flatMap((name) => [
  "--import",
  new URL(name, import.meta.url).href,
]);

/**
 * A service in a process and process group of its own: Ctrl-C in a terminal reaches only this
 * process, which then asks each service once. A second signal would end a service at once.
 */
export class PlatformProcess {
  readonly name: string;
  /** How it has ended, once it has. */
  readonly ended: Promise<string>;
  /**
   * Resolves once this very process listens on all its ports; pending for ever if it ends before.
   * Until then, whoever answers there is somebody else.
   */
  readonly listening: Promise<void>;
  readonly #child: ChildProcess;
  readonly #log: LogFile;
  #reason = "";
  #hasEnded = false;
  #refused: PortReport | undefined;

  constructor({ name, main, args = [], environment, ports, log }: Program) {
    this.name = name;
    this.#log = new LogFile(log);
    this.#child = spawn(process.execPath, [...PRELOADED, main, ...args], {
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: true,
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => this.#log.write(chunk));
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.#log.write(chunk);
      this.#reason = `${this.#reason}${chunk}`.slice(-LONGEST_REASON);
    });
    this.listening = this.#listensOn(new Set(ports));
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

  /** The port that it could not listen on, and why; undefined if there is none. */
  get refused(): PortReport | undefined {
    return this.#refused;
  }

  /** Asks it to end, and kills it with all that it has started if it does not. */
  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.kill("SIGTERM");
    const killer = setTimeout(() => this.#kill(), PATIENCE_MS);
    await this.ended;
    clearTimeout(killer);
  }

  #listensOn(missing: Set<number>): Promise<void> {
    return new Promise((resolve) => {
      this.#child.on("message", (report: PortReport) => {
        if (report.code !== undefined) this.#refused ??= report;
        else if (missing.delete(report.port) && missing.size === 0) resolve();
      });
    });
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
