/** The program svc-iam as images contain it: a bundle, without sources and packages beside it. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../../../test/support/free-port.ts";
import { until } from "../../../../test/support/until.ts";
import { ROOT } from "../../../../test/support/workspace.ts";
import { endOf } from "../support/command-line.ts";
import type { Ran } from "../support/run-program.ts";

/** A bundle with a configuration of its own, in a folder that is removed with it. */
export class BundledProgram {
  readonly origin: string;
  readonly #folder: string;
  readonly #environment: NodeJS.ProcessEnv;
  #server: ChildProcess | undefined;
  #log = "";

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.origin = `http://localhost:${port}`;
    this.#environment = {
      ...process.env,
      NO_COLOR: "1",
      DATA: folder,
      XDG_STATE_HOME: folder,
      SVC_IAM_LOGIN_FILE: "",
      HTTP_ADDRESS: `127.0.0.1:${port}`,
      GRPC_ADDRESS: "127.0.0.1:0",
      METRICS_ADDRESS: "127.0.0.1:0",
      PUBLIC_URL: this.origin,
    };
  }

  /**
   * Makes it of the sources.
   *
   * @param change of the sample configuration
   */
  static async make(change: (configuration: string) => string): Promise<BundledProgram> {
    const folder = mkdtempSync(join(tmpdir(), "svc-iam-bundle-"));
    const app = join(folder, "app");
    const script = join(ROOT, "scripts/bundle-service.ts");
    await promisify(execFile)(process.execPath, [script, join(ROOT, "services/iam"), app]);
    const sample = readFileSync(join(ROOT, "services/iam/service.yaml"), "utf8");
    const model = join(app, "model/iam.zed");
    const program = new BundledProgram(folder, await freePort());
    writeFileSync(program.configuration, change(sample.replace("../../model/iam.zed", model)));
    return program;
  }

  /** The file of its configuration. */
  get configuration(): string {
    return join(this.#folder, "service.yaml");
  }

  /** What the server has logged. */
  get log(): string {
    return this.#log;
  }

  /** Starts a command. */
  start(...args: readonly string[]): ChildProcess {
    const main = join(this.#folder, "app/dist/main.js");
    return spawn(process.execPath, [main, ...args], {
      cwd: this.#folder,
      env: this.#environment,
    });
  }

  /** Runs a command to its end. */
  run(...args: readonly string[]): Promise<Ran> {
    return endOf(this.start(...args));
  }

  /** Starts the server, and waits until it is ready. */
  async serve(): Promise<void> {
    const server = this.start("serve", this.configuration);
    this.#server = server;
    for (const stream of [server.stdout, server.stderr]) {
      stream?.on("data", (chunk: Buffer) => void (this.#log += chunk));
    }
    await until(
      () => `svc-iam is ready: ${this.#log}`,
      async () => {
        if (server.exitCode !== null) throw new Error(this.#log);
        return (await fetch(`${this.origin}/readyz`).catch(() => undefined))?.status === 200;
      },
    );
  }

  /** Stops the server. @returns its exit code */
  async stop(): Promise<number | null> {
    const server = this.#server;
    if (server === undefined) return null;
    if (server.exitCode === null) {
      const ended = once(server, "exit");
      server.kill("SIGTERM");
      await ended;
    }
    return server.exitCode;
  }

  /** Stops the server, and removes all. */
  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
