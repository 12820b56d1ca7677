import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../support/free-port.ts";
import {
  openPostgres,
  postgresPrograms,
  query,
  type TestPostgres,
} from "../../support/postgres.ts";
import { findSpicedb } from "../../support/spicedb.ts";
import { until } from "../../support/until.ts";
import { ROOT } from "../../support/workspace.ts";

/** A replica, and what it has of its own where both are on one machine. */
export interface GuideReplica {
  readonly origin: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** The end of what a program has written to standard error. */
interface ProgramLog {
  readonly text: string;
  readonly hasEnded: boolean;
}

const LOG_LENGTH = 4_000;

/** The machines of the guide of docs/iam.md, on this one: commands run with its addresses and folders. */
export class GuideMachines {
  readonly folder = mkdtempSync(join(tmpdir(), "svc-access-guide-"));
  readonly replicas: GuideReplica[] = [];
  readonly #postgres: TestPostgres;
  readonly #running: ChildProcess[] = [];
  #spicedb = "";
  #environment: Readonly<Record<string, string | undefined>> = {};
  #replaced: readonly (readonly [string, string])[] = [];

  private constructor(postgres: TestPostgres) {
    this.#postgres = postgres;
  }

  /** @returns undefined where the PostgreSQL is one that others use, whose roles are not touched */
  static async prepare(): Promise<GuideMachines | undefined> {
    const postgres = await openPostgres();
    if (postgres?.stop === undefined) return undefined;
    const machines = new GuideMachines(postgres);
    await machines.#prepare();
    return machines;
  }

  async #prepare(): Promise<void> {
    const { folder, replicas } = this;
    await query(this.#postgres.url, "ALTER SYSTEM SET track_commit_timestamp = on");
    this.#postgres.stop?.();
    this.#postgres.start?.();
    for (const name of ["model", "node_modules"]) symlinkSync(join(ROOT, name), join(folder, name));
    mkdirSync(join(folder, "bin"));
    const main = join(ROOT, "services/iam/src/main.ts");
    this.#program("svc-iam", `exec '${process.execPath}' '${main}' "$@"`);
    this.#spicedb = `localhost:${await freePort()}`;
    // The ports that other tests use too, and what asks the internet.
    const off = "--http-enabled=false --metrics-enabled=false --telemetry-endpoint=";
    const serve = `serve) set -- "$@" --grpc-addr=${this.#spicedb} ${off};;`;
    const exec = `exec '${findSpicedb()}' "$@" --skip-release-check`;
    this.#program("spicedb", `case "$1" in ${serve} esac; ${exec}`);
    this.#makeCertificate();
    for (let count = 0; count < 2; count++) {
      const http = await freePort();
      const environment = {
        HTTP_ADDRESS: `127.0.0.1:${http}`,
        GRPC_ADDRESS: `127.0.0.1:${await freePort()}`,
        METRICS_ADDRESS: `127.0.0.1:${await freePort()}`,
      };
      replicas.push({ origin: `http://localhost:${http}`, environment });
    }
    this.#replaced = [
      ["db.internal:5432", new URL(this.#postgres.url).host],
      ["spicedb.internal:50051", this.#spicedb],
      ["/etc/svc-iam", join(folder, "etc")],
      ["https://iam.example.com", replicas[0]?.origin ?? ""],
      ["10.42.0.10/32", "127.0.0.1/32"],
    ];
    const programs = [join(folder, "bin"), join(ROOT, "node_modules/.bin"), postgresPrograms()];
    const { HOME, TMPDIR, PATH } = process.env;
    this.#environment = { HOME, TMPDIR, PATH: [...programs, PATH].join(":") };
  }

  /** A text of the guide with the addresses and folders of this machine. */
  here(part: string): string {
    return this.#replaced.reduce((result, [from, to]) => result.replaceAll(from, to), part);
  }

  /** Runs a block of commands, which must succeed, and returns its standard output. */
  run(block: string): string {
    const { status, stdout, stderr } = spawnSync("sh", ["-ec", this.here(block)], {
      cwd: this.folder,
      env: this.#environment,
      encoding: "utf8",
    });
    if (status === 0) return stdout;
    throw new Error(`${block}exit code ${status}: ${stderr}`);
  }

  /** Runs a block, and keeps the variables that it exports. */
  keepVariables(block: string): void {
    const lines = this.run(`${block}env`).trimEnd().split("\n");
    const entries = lines.map((line) => [
      line.slice(0, line.indexOf("=")),
      line.slice(line.indexOf("=") + 1),
    ]);
    this.#environment = { ...this.#environment, ...Object.fromEntries(entries) };
  }

  /** Starts the SpiceDB, as a supervisor does. */
  async startSpicedb(command: string): Promise<void> {
    this.#start(command);
    await until("SpiceDB listens", () => listens(this.#spicedb));
  }

  /** Starts both replicas with one command, and waits until they are ready. */
  async startReplicas(command: string): Promise<void> {
    const started = this.replicas.map(({ origin, environment }) => ({
      origin,
      log: this.#start(command, environment),
    }));
    for (const { origin, log } of started) {
      const what = () => `the replica of ${origin} is ready: ${log.text}`;
      await until(what, async () => {
        if (log.hasEnded) throw new Error(`the replica of ${origin} ended: ${log.text}`);
        const response = await fetch(`${origin}/readyz`).catch(() => undefined);
        return response?.status === 200;
      });
    }
  }

  /** Stops the replicas, and then SpiceDB. */
  async stopAll(): Promise<void> {
    for (const child of this.#running.splice(0).reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await exited;
    }
  }

  async remove(): Promise<void> {
    await this.stopAll();
    this.#postgres.remove();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #start(command: string, own: Readonly<Record<string, string>> = {}): ProgramLog {
    const env = { ...this.#environment, ...own };
    const args = ["-c", `exec ${this.here(command)}`];
    const child = spawn("sh", args, {
      cwd: this.folder,
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#running.push(child);
    const log = { text: "", hasEnded: false };
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      log.text = `${log.text}${part}`.slice(-LOG_LENGTH);
    });
    child.once("close", () => {
      log.hasEnded = true;
    });
    return log;
  }

  #program(name: string, script: string): void {
    const file = join(this.folder, "bin", name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }

  #makeCertificate(): void {
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const files = ["-keyout", "spicedb-key.pem", "-out", "spicedb.pem"];
    const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...files, ...names];
    execFileSync("openssl", args, { cwd: this.folder, stdio: "ignore" });
    symlinkSync("spicedb.pem", join(this.folder, "ca.pem"));
  }
}

function listens(address: string): Promise<boolean> {
  const [host = "", port] = address.split(":");
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) });
    const settle = (isListening: boolean) => () => {
      socket.destroy();
      resolve(isListening);
    };
    socket.once("connect", settle(true)).once("error", settle(false));
  });
}
