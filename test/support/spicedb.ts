import { type ChildProcess, execFile, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { connect } from "node:net";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./free-port.ts";
import { PATIENCE } from "./patience.ts";
import { until } from "./until.ts";

/** A real SpiceDB, for one test file. */
export interface SpicedbServer {
  readonly endpoint: string;
  readonly token: string;
  /** Stops the server; the default signal simulates a crash. A memory store loses its data. */
  stop(signal?: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
}

/** The options of a SpiceDB; the defaults are a memory store and no TLS. */
export interface SpicedbOptions {
  /** The PostgreSQL database of its relationships, which is migrated first. */
  readonly postgresUrl?: string;
  /** Whether it has separate data in memory for each token, and accepts every token. */
  readonly dataByToken?: boolean;
  /** The files of its certificate and key. */
  readonly tls?: { readonly certificate: string; readonly key: string };
}

const VERSION = "1.54.0";
/** The time limit of one attempt to connect; `until` limits all of them. */
const CONNECT_MS = 5_000;

/** The SpiceDB to test against: `SPICEDB`, on the PATH, or built by scripts/build-spicedb.sh. */
export function findSpicedb(): string | undefined {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const candidates = [
    process.env["SPICEDB"] ?? "",
    ...(process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "spicedb")),
    join(cache, "svc-access", `spicedb-${VERSION}`, "spicedb"),
  ];
  return candidates.find((path) => path !== "" && isExecutable(path));
}

/** Whether tests on a real SpiceDB are skipped, with a warning; never in CI. */
export function spicedbIsAbsent(): boolean {
  if (findSpicedb() !== undefined) return false;
  const message = "there is no SpiceDB: set SPICEDB, or run scripts/build-spicedb.sh";
  if (process.env["CI"] === "true") throw new Error(message);
  console.warn(`SKIPPED, the tests on a real SpiceDB: ${message}`);
  return true;
}

/** Starts a SpiceDB on a free port. */
export async function startSpicedb(options: SpicedbOptions = {}): Promise<SpicedbServer> {
  const binary = findSpicedb();
  if (binary === undefined) throw new Error("there is no SpiceDB");
  const endpoint = `127.0.0.1:${await freePort()}`;
  const token = `secret-${process.pid}`;
  let child: ChildProcess | undefined;

  const stop = async (signal: "SIGKILL" | "SIGTERM" = "SIGKILL") => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const exited = new Promise((resolve) => running.once("exit", resolve));
    running.kill(signal);
    await exited;
  };
  const start = async () => {
    const all =
      options.dataByToken === true
        ? testingFlags(endpoint)
        : [...flags(endpoint, token), ...flagsOf(options)];
    child = spawn(binary, all, { stdio: "ignore" });
    await listening(endpoint, child);
  };
  if (options.postgresUrl !== undefined) {
    const migration = ["datastore", "migrate", "head", "--skip-release-check=true"];
    const args = [...migration, ...postgresFlags(options.postgresUrl)];
    await promisify(execFile)(binary, args, { timeout: PATIENCE });
  }
  await start();
  return { endpoint, token, stop, start };
}

function flags(endpoint: string, token: string): string[] {
  return [
    "serve",
    `--grpc-preshared-key=${token}`,
    `--grpc-addr=${endpoint}`,
    "--http-enabled=false",
    "--metrics-enabled=false",
    "--telemetry-endpoint=",
    "--skip-release-check=true",
    "--dispatch-cluster-enabled=false",
  ];
}

function testingFlags(endpoint: string): string[] {
  return [
    "serve-testing",
    `--grpc-addr=${endpoint}`,
    "--readonly-grpc-enabled=false",
    "--skip-release-check=true",
  ];
}

function flagsOf({ postgresUrl, tls }: SpicedbOptions): string[] {
  return [
    ...(postgresUrl === undefined ? ["--datastore-engine=memory"] : postgresFlags(postgresUrl)),
    ...(tls === undefined
      ? []
      : [`--grpc-tls-cert-path=${tls.certificate}`, `--grpc-tls-key-path=${tls.key}`]),
  ];
}

function postgresFlags(url: string): string[] {
  return ["--datastore-engine=postgres", `--datastore-conn-uri=${url}`];
}

async function listening(endpoint: string, child: ChildProcess): Promise<void> {
  const [host = "", port] = endpoint.split(":");
  await until(`SpiceDB listens on ${endpoint}`, () => {
    if (child.exitCode !== null) throw new Error(`SpiceDB exited with ${child.exitCode}`);
    return new Promise<boolean>((resolve) => {
      const socket = connect({ port: Number(port), host, timeout: CONNECT_MS });
      const settle = (isListening: boolean) => () => {
        socket.destroy();
        resolve(isListening);
      };
      socket.once("connect", settle(true));
      socket.once("error", settle(false)).once("timeout", settle(false));
    });
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
