import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../support/workspace.ts";

export const HUB = join(ROOT, "examples/hub");
const IAM = join(ROOT, "services/iam");

/** The programs, in their folders. */
const PROGRAMS: Readonly<
  Record<"hub" | "git" | "start" | "iam", { main: string; args?: readonly string[] }>
> = {
  hub: { main: "src/hub/main.ts" },
  git: { main: "src/git/main.ts" },
  start: { main: "src/start.ts" },
  iam: { main: "src/main.ts", args: ["serve"] },
};

/** The tokens of a test, which the services get by their environment. */
export const TOKENS = {
  HUB_TOKEN: "token-of-the-hub-5d1f0c7a",
  GIT_TOKEN: "token-of-git-9b3e6a21",
  SYSTEM_TOKEN: "token-of-the-system-4f8c",
};

/** A service inherits only where programs, temporary files and compiled code are. */
const INHERITED = {
  PATH: process.env["PATH"],
  TMPDIR: process.env["TMPDIR"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
};

/** A line of a service's log. */
export type LogEntry = Readonly<Record<string, unknown>>;

/** How a service is started. */
export interface StartOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** A configuration instead of the one of the example. */
  readonly configuration?: string;
  /** The folder of a copy of the example. */
  readonly folder?: string;
}

/** A service of the example as a process. */
export class ServiceProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  #output = "";
  errors = "";
  #listeners: (() => void)[] = [];

  constructor(name: keyof typeof PROGRAMS, options: StartOptions) {
    const { main, args = [] } = PROGRAMS[name];
    const { folder = name === "iam" ? IAM : HUB, configuration, environment } = options;
    this.child = spawn(
      process.execPath,
      [join(folder, main), ...args, ...(configuration === undefined ? [] : [configuration])],
      { env: { ...INHERITED, ...environment }, stdio: ["ignore", "pipe", "pipe"] },
    );
    this.child.stdout?.on("data", (chunk: Buffer) => {
      this.#output += chunk.toString();
      for (const listener of this.#listeners.splice(0)) listener();
    });
    this.child.stderr?.on("data", (chunk: Buffer) => {
      this.errors += chunk.toString();
    });
    this.exited = new Promise((resolve) => {
      this.child.once("close", (code) => {
        resolve(code);
        for (const listener of this.#listeners.splice(0)) listener();
      });
    });
  }

  /** Its whole standard output. */
  get output(): string {
    return this.#output;
  }

  get lines(): readonly LogEntry[] {
    const complete = this.#output.slice(0, this.#output.lastIndexOf("\n") + 1);
    return complete.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  }

  /** The first line that matches, once it is written. */
  async line(fits: (entry: LogEntry) => boolean): Promise<LogEntry> {
    for (;;) {
      const entry = this.lines.find(fits);
      if (entry !== undefined) return entry;
      if (this.child.exitCode !== null) throw new Error(`it has ended: ${this.errors}`);
      await new Promise<void>((resolve) => this.#listeners.push(resolve));
    }
  }

  /** The addresses on which it listens. */
  async addresses(): Promise<Readonly<Record<string, string>>> {
    const { addresses } = await this.line(({ message }) => message === "started");
    const entries = Object.entries(addresses as Record<string, { host: string; port: number }>);
    return Object.fromEntries(entries.map(([name, { host, port }]) => [name, `${host}:${port}`]));
  }

  /** Ends it, and returns its exit code. */
  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<number | null> {
    this.child.kill(signal);
    return this.exited;
  }
}

/** The hub and the Git service, with their own data folder and ports. */
export class HubProcesses {
  readonly data = mkdtempSync(join(tmpdir(), "svc-access-hub-"));
  git!: ServiceProcess;
  hub!: ServiceProcess;
  http = "";
  grpc = "";
  metrics = "";
  gitGrpc = "";

  static async start(options: StartOptions = {}): Promise<HubProcesses> {
    const processes = new HubProcesses();
    try {
      await processes.startGit();
      await processes.startHub(options);
      return processes;
    } catch (error) {
      await processes.remove();
      throw error;
    }
  }

  /** Starts the Git service, on its previous port if it had one. */
  async startGit(environment: StartOptions["environment"] = {}): Promise<void> {
    this.git = new ServiceProcess("git", {
      environment: {
        ...TOKENS,
        DATA: this.data,
        GIT_ADDRESS: this.gitGrpc || "127.0.0.1:0",
        GIT_METRICS_ADDRESS: "127.0.0.1:0",
        ...environment,
      },
    });
    const { grpc = "" } = await this.git.addresses();
    this.gitGrpc = grpc;
  }

  async startHub(options: StartOptions = {}): Promise<void> {
    this.hub = this.newHub(options);
    const { http = "", grpc = "", metrics = "" } = await this.hub.addresses();
    Object.assign(this, { http: `http://${http}`, grpc, metrics: `http://${metrics}` });
  }

  /** Another hub on the same data, on free ports. */
  newHub({ environment, ...options }: StartOptions = {}): ServiceProcess {
    return new ServiceProcess("hub", {
      ...options,
      environment: {
        ...TOKENS,
        DATA: this.data,
        HTTP_ADDRESS: "127.0.0.1:0",
        GRPC_ADDRESS: "127.0.0.1:0",
        METRICS_ADDRESS: "127.0.0.1:0",
        GIT_ADDRESS: this.gitGrpc,
        ...environment,
      },
    });
  }

  async remove(): Promise<void> {
    await Promise.all([this.hub?.stop("SIGKILL"), this.git?.stop("SIGKILL")]);
    rmSync(this.data, { recursive: true, force: true });
  }
}
