/** Starts of servers in processes of their own, and what Linux reports of those processes. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../test/support/free-port.ts";
import { pinned } from "./pinning.ts";

/** Linux counts the time of processes in these. */
const TICKS_PER_SECOND = 100;

/** The secrets of the hub of `examples/`. */
export const HUB_SECRETS = {
  HUB_TOKEN: "a-token-for-the-bench-only",
  GIT_TOKEN: "another-token-for-the-bench",
  SYSTEM_TOKEN: "a-third-token-for-the-bench",
};

/** A server to start. */
export interface ServiceStart {
  /** The arguments of `node`. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Its port of HTTP; one that is free if absent. */
  readonly port?: number;
}

/** What a start took, to the first request that says that the server is ready. */
export interface StartTime {
  readonly seconds: number;
  /** Of processor time. */
  readonly busySeconds: number;
}

/** A server that is ready. */
export interface StartedService extends StartTime {
  readonly port: number;
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

/**
 * Starts a server on the processor of the measured process, and waits until it is ready.
 *
 * @throws Error if the process ends before
 */
export async function startService(service: ServiceStart): Promise<StartedService> {
  const { port = await freePort() } = service;
  const env = {
    ...process.env,
    HTTP_ADDRESS: `127.0.0.1:${port}`,
    GRPC_ADDRESS: "127.0.0.1:0",
    METRICS_ADDRESS: "127.0.0.1:0",
    ...service.env,
  };
  const [program, args] = pinned(process.execPath, service.args);
  const begin = performance.now();
  // Its log is written, and read by nobody.
  const child = spawn(program, args, { env, stdio: ["ignore", "ignore", "inherit"] });
  const ended = new Promise<never>((_, reject) => {
    child.once("exit", (code) => {
      reject(new Error(`${service.args.join(" ")} has ended with ${code}`));
    });
  });
  ended.catch(() => undefined);
  const stop = async () => {
    child.kill("SIGTERM");
    await ended.catch(() => undefined);
  };
  try {
    while (!(await Promise.race([isReady(port), ended]))) await sleep(2);
  } catch (error) {
    await stop();
    throw error;
  }
  const seconds = (performance.now() - begin) / 1000;
  return { seconds, busySeconds: processorSeconds(child.pid), port, pid: child.pid, stop };
}

/** What a process has in memory. */
export function residentMegabytes(pid: number | undefined): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(toldOf(pid, "status"))?.[1]) / 1024;
}

/** The processor time that a process has had. */
export function processorSeconds(pid: number | undefined): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** How long ago a process was started. */
export function secondsSinceStart(pid: number | undefined): number {
  const [uptime] = readFileSync("/proc/uptime", "utf8").split(" ");
  return Number(uptime) - Number(statOf(pid)[19]) / TICKS_PER_SECOND;
}

/** The fields of `stat` after the name of the process, which is in brackets and may hold spaces. */
function statOf(pid: number | undefined): string[] {
  return toldOf(pid, "stat").split(") ")[1]?.split(" ") ?? [];
}

/** What Linux reports of a process; nothing elsewhere. */
function toldOf(pid: number | undefined, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** Asks by hand: a client that is refused a hundred times would cost more than the start. */
export function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write("GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    });
    socket.once("data", (answer) => {
      socket.destroy();
      resolve(answer.includes(" 200 OK"));
    });
    socket.once("error", () => resolve(false));
  });
}
