import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../../test/support/until.ts";
import type { Answer } from "../support/iam-service.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");
const CLOCK = join(import.meta.dirname, "shifted-clock.mjs");

/** A replica of svc-iam, in a process of its own. */
export class Replica {
  readonly port: number;
  readonly grpcPort: number;
  readonly #flags: readonly string[];
  readonly #file: string;
  readonly #clockFile: string;
  #child: ChildProcess | undefined;
  #output = "";

  /** @param flags of Node.js */
  constructor(
    folder: string,
    ports: { readonly http: number; readonly grpc: number },
    flags: readonly string[] = [],
  ) {
    this.#flags = flags;
    this.port = ports.http;
    this.grpcPort = ports.grpc;
    this.#file = join(folder, `service-${ports.http}.yaml`);
    this.#clockFile = join(folder, `clock-${ports.http}`);
    writeFileSync(this.#clockFile, "0");
  }

  /** The file of its configuration. */
  get file(): string {
    return this.#file;
  }

  /** Starts it, and waits until it is ready. */
  async start(): Promise<void> {
    const flags = [...this.#flags, "--import", CLOCK];
    const child = spawn(process.execPath, [...flags, MAIN, "serve", this.#file], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, CLOCK_OFFSET_FILE: this.#clockFile },
    });
    this.#child = child;
    const keep = (chunk: Buffer) => {
      this.#output = (this.#output + chunk).slice(-20_000);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    await until(
      () => `the replica is ready: ${this.#output}`,
      async () => {
        if (child.exitCode !== null) throw new Error(`it ended: ${this.#output}`);
        return (await this.call("GET", "/readyz").catch(() => undefined))?.status === 200;
      },
    );
  }

  /** Its resident memory, in MiB; Linux only. */
  get residentMib(): number {
    const status = readFileSync(`/proc/${this.#child?.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
  }

  /** Ends it, as a crash of its machine would. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** Sets its clock, while it runs. */
  async shiftClock(milliseconds: number): Promise<void> {
    writeFileSync(this.#clockFile, String(milliseconds));
    const child = this.#child;
    if (child === undefined) return;
    this.#output = "";
    child.kill("SIGUSR2");
    await until("its clock is set", () => this.#output.includes(`clock ${milliseconds}\n`));
  }

  /** Begins a command of svc-iam with its configuration, beside it. */
  begin(command: string) {
    return spawn(process.execPath, [MAIN, command, this.#file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
  }

  /** Runs a command to its end. */
  async run(command: string): Promise<{ readonly status: number; readonly stdout: string }> {
    const child = this.begin(command);
    let stdout = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk;
    });
    const [status] = await once(child, "close");
    return { status, stdout };
  }

  call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    return callAt(`http://127.0.0.1:${this.port}`, method, path, body, headers);
  }
}

/** Calls an RPC by its HTTP form. */
export async function callAt(
  origin: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(`${origin}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}
