import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { connect, createServer } from "node:net";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A real SpiceDB on its memory datastore, for one test file. */
export interface SpicedbServer {
  readonly endpoint: string;
  readonly token: string;
  /** Stops the server as a crash would; what it stored is gone. */
  stop(): Promise<void>;
  /** Starts it again, empty, on the same port. */
  start(): Promise<void>;
}

const VERSION = "1.54.0";

/** The SpiceDB to test against: `SPICEDB`, on the PATH, or as scripts/build-spicedb.sh built it. */
export function findSpicedb(): string | undefined {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const candidates = [
    process.env["SPICEDB"] ?? "",
    ...(process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "spicedb")),
    join(cache, "svc-access", `spicedb-${VERSION}`, "spicedb"),
  ];
  return candidates.find((path) => path !== "" && isExecutable(path));
}

/** Whether the tests on a real SpiceDB are skipped: loudly, and never in CI. */
export function spicedbIsAbsent(): boolean {
  if (findSpicedb() !== undefined) return false;
  const message = "there is no SpiceDB: set SPICEDB, or run scripts/build-spicedb.sh";
  if (process.env["CI"] === "true") throw new Error(message);
  console.warn(`SKIPPED, the tests on a real SpiceDB: ${message}`);
  return true;
}

/** Starts a SpiceDB on a free port. */
export async function startSpicedb(): Promise<SpicedbServer> {
  const binary = findSpicedb();
  if (binary === undefined) throw new Error("there is no SpiceDB");
  const endpoint = `127.0.0.1:${await freePort()}`;
  const token = `secret-${process.pid}`;
  let child: ChildProcess | undefined;

  const stop = async () => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const exited = new Promise((resolve) => running.once("exit", resolve));
    running.kill("SIGKILL");
    await exited;
  };
  const start = async () => {
    child = spawn(binary, flags(endpoint, token), { stdio: "ignore" });
    await listening(endpoint, child);
  };
  await start();
  return { endpoint, token, stop, start };
}

function flags(endpoint: string, token: string): string[] {
  return [
    "serve",
    `--grpc-preshared-key=${token}`,
    `--grpc-addr=${endpoint}`,
    "--datastore-engine=memory",
    "--http-enabled=false",
    "--metrics-enabled=false",
    "--telemetry-endpoint=",
    "--skip-release-check=true",
    "--dispatch-cluster-enabled=false",
  ];
}

async function listening(endpoint: string, child: ChildProcess): Promise<void> {
  const [host = "", port] = endpoint.split(":");
  for (let attempt = 0; attempt < 300; attempt++) {
    if (child.exitCode !== null) throw new Error(`SpiceDB exited with ${child.exitCode}`);
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), host);
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (open) return;
    await sleep(50);
  }
  throw new Error("SpiceDB does not listen");
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
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
