import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

/** A real etcd, for one test file. */
export interface EtcdServer {
  readonly endpoint: string;
  /** Stops the server; the default signal simulates a crash. */
  stop(signal?: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** Starts it again on the same port, with or without its data; nothing if it runs. */
  start(data?: "kept" | "lost"): Promise<void>;
  /** Stops it, and removes its data. */
  remove(): Promise<void>;
}

/** The etcd to test against: `ETCD`, or on the PATH. */
export function findEtcd(): string | undefined {
  const candidates = [
    process.env["ETCD"] ?? "",
    ...(process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "etcd")),
    "/usr/bin/etcd",
  ];
  return candidates.find((path) => path !== "" && isExecutable(path));
}

/** Whether tests on a real etcd are skipped, with a warning; never in CI. */
export function etcdIsAbsent(): boolean {
  if (findEtcd() !== undefined) return false;
  const message = "there is no etcd: set ETCD, or install etcd-server";
  if (process.env["CI"] === "true") throw new Error(message);
  console.warn(`SKIPPED, the tests on a real etcd: ${message}`);
  return true;
}

/** Starts an etcd on free ports. */
export async function startEtcd(): Promise<EtcdServer> {
  const binary = findEtcd();
  if (binary === undefined) throw new Error("there is no etcd");
  const folder = mkdtempSync(join(tmpdir(), "svc-access-etcd-"));
  const data = join(folder, "data");
  const client = `http://127.0.0.1:${await freePort()}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  let child: ChildProcess | undefined;

  const stop = async (signal: "SIGKILL" | "SIGTERM" = "SIGKILL") => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const exited = new Promise((resolve) => running.once("exit", resolve));
    running.kill(signal);
    await exited;
  };
  const start = async (kept: "kept" | "lost" = "kept") => {
    if (child !== undefined && child.exitCode === null) return;
    if (kept === "lost") rmSync(data, { recursive: true, force: true });
    child = spawn(binary, flags(data, client, peer), { stdio: "ignore" });
    await healthy(client, child);
  };
  const remove = async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  };
  await start();
  return { endpoint: client, stop, start, remove };
}

function flags(data: string, client: string, peer: string): string[] {
  return [
    "--name=test",
    `--data-dir=${data}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=test=${peer}`,
    // Leases of a second or two are rounded up to more than the election timeout.
    "--heartbeat-interval=50",
    "--election-timeout=250",
  ];
}

async function healthy(client: string, child: ChildProcess): Promise<void> {
  await until(`etcd is healthy at ${client}`, async () => {
    if (child.exitCode !== null) throw new Error(`etcd exited with ${child.exitCode}`);
    const answer = await fetch(`${client}/health`).catch(() => undefined);
    return answer?.ok === true;
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
