import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import type { ServerAddresses } from "../../../../src/runtime/index.ts";
import { bundledScript } from "../../../support/bundled-script.ts";
import { until } from "./until.ts";

/** A process of a script of this folder, with its output. */
export class Spawned {
  readonly process: ChildProcess;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  output = "";
  errors = "";

  /** @param descriptors the limit of file descriptors; by default that of this process */
  constructor(script: string, options: object, descriptors?: number) {
    const file = bundledScript(join(import.meta.dirname, script));
    const limited = descriptors === undefined ? "" : `ulimit -n ${descriptors};`;
    this.process = spawn(
      "sh",
      ["-c", `${limited} exec "$0" "$@"`, process.execPath, file, JSON.stringify(options)],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    this.process.stdout?.on("data", (chunk: Buffer) => (this.output += chunk.toString()));
    this.process.stderr?.on("data", (chunk: Buffer) => (this.errors += chunk.toString()));
    this.ended = new Promise((resolve) => {
      this.process.once("close", (code, signal) => resolve(code ?? signal ?? ""));
    });
  }

  /** The complete lines of its log. */
  get lines(): Record<string, unknown>[] {
    const whole = this.output.slice(0, this.output.lastIndexOf("\n") + 1);
    return whole.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  }

  /** The line of its log with a message, once it is written. */
  async line(message: string): Promise<Record<string, unknown>> {
    const find = () => this.lines.find((line) => line["message"] === message);
    await until(
      `it says "${message}"`,
      () => find() !== undefined || this.process.exitCode !== null,
    );
    const found = find();
    if (found === undefined) throw new Error(`it has ended: ${this.errors}${this.output}`);
    return found;
  }

  /** The port of its HTTP server, once it listens. */
  async httpPort(): Promise<number> {
    const { addresses } = await this.line("started");
    return (addresses as ServerAddresses)["http"]?.port ?? 0;
  }
}
