import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../support/free-port.ts";
import { until } from "../../support/until.ts";
import { ROOT } from "../../support/workspace.ts";

const LINKED = [
  "bin",
  "dist",
  "model",
  "node_modules",
  "package.json",
  "proto",
  "schemas",
  "services",
  "src",
];
const PORTS = ["IAM_HTTP", "IAM_GRPC", "IAM_METRICS", "HUB_HTTP", "HUB_GRPC", "HUB_METRICS"];
const GIT_PORTS = ["GIT_GRPC", "GIT_METRICS"];

/**
 * A checkout in which `npm start` generates `examples/hub` again: in this one, other tests run it
 * meanwhile.
 */
export class PlatformCheckout {
  readonly folder = mkdtempSync(join(tmpdir(), "svc-access-platform-"));
  /** Its environment, with free ports. */
  readonly environment: Record<string, string | undefined> = {};

  static async create(): Promise<PlatformCheckout> {
    const checkout = new PlatformCheckout();
    const { folder, environment } = checkout;
    const from = join(ROOT, "examples/hub");
    mkdirSync(join(folder, "examples"));
    cpSync(from, join(folder, "examples/hub"), {
      recursive: true,
      filter: (path) => ![join(from, "node_modules"), join(from, "data")].includes(path),
    });
    cpSync(join(ROOT, "scripts"), join(folder, "scripts"), { recursive: true });
    for (const name of LINKED) symlinkSync(join(ROOT, name), join(folder, name));
    execFileSync(process.execPath, [join(folder, "scripts/link-example.ts")]);
    for (const name of ["HOME", "TMPDIR", "NODE_COMPILE_CACHE"]) {
      environment[name] = process.env[name];
    }
    environment["PATH"] = `${join(folder, "node_modules/.bin")}:${process.env["PATH"]}`;
    environment["npm_config_update_notifier"] = "false";
    for (const name of [...PORTS, ...GIT_PORTS]) {
      environment[`${name}_PORT`] = `${await freePort()}`;
    }
    return checkout;
  }

  /** The address of a port, such as `IAM_HTTP`. */
  address(name: string): string {
    return `localhost:${this.environment[`${name}_PORT`]}`;
  }

  /** Runs `npm start` in a process group of its own, as a shell does. */
  start(): PlatformRun {
    return new PlatformRun(this);
  }

  /** The ids of the processes that run programs of this checkout, by their command lines. */
  processes(): ReadonlyMap<number, string> {
    const found = new Map<number, string>();
    for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
      const line = commandLine(name);
      if (line.includes(this.folder)) found.set(Number(name), line);
    }
    return found;
  }

  remove(): void {
    for (const id of this.processes().keys()) process.kill(id, "SIGKILL");
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A run of `npm start`. */
export class PlatformRun {
  readonly child: ChildProcess;
  /** The exit code, once npm and all that hold its output have ended. */
  readonly exited: Promise<number | null>;
  output = "";
  errors = "";
  #isClosed = false;

  constructor({ folder, environment }: PlatformCheckout) {
    this.child = spawn("npm", ["start"], {
      cwd: folder,
      env: environment,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stdout?.on("data", (chunk: Buffer) => {
      this.output += chunk.toString();
    });
    this.child.stderr?.on("data", (chunk: Buffer) => {
      this.errors += chunk.toString();
    });
    this.exited = new Promise((resolve) => {
      this.child.once("close", (code) => {
        this.#isClosed = true;
        resolve(code);
      });
    });
  }

  /** Waits until it has printed a text. Two minutes are enough on a slow machine. */
  async printed(text: string): Promise<void> {
    await until(
      () => `${text} is printed: ${this.output}${this.errors}`,
      () => {
        if (this.output.includes(text)) return true;
        const { exitCode, signalCode } = this.child;
        if (exitCode === null && signalCode === null) return false;
        throw new Error(`it has ended: ${this.errors}`);
      },
    );
  }

  /** Waits until it has ended, with all that hold its output. @returns the exit code */
  async ended(): Promise<number | null> {
    await until(
      () => `it has ended: ${this.output}${this.errors}`,
      () => this.#isClosed,
    );
    return this.exited;
  }

  /** Sends a signal to npm, or to its whole group as a terminal does. */
  signal(name: NodeJS.Signals, to: "npm" | "group"): void {
    const { pid } = this.child;
    if (pid !== undefined) process.kill(to === "npm" ? pid : -pid, name);
  }
}

/** The command line of a process; empty if it has ended meanwhile. */
function commandLine(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
