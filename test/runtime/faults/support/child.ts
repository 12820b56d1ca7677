import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { bundledScript } from "../../../support/bundled-script.ts";

/** The options of a vault in a separate process. */
export interface ChildOptions {
  /** The folder of its databases. */
  readonly folder: string;
  readonly security?: object;
  readonly config?: object;
}

/** A process and its end. */
export interface Child {
  readonly process: ChildProcess;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Sends a message and returns the answer. */
  ask<Answer>(question: unknown): Promise<Answer>;
}

/** A vault in a separate process. */
export interface ChildVault extends Child {
  readonly http: number;
  readonly grpc: number;
}

/** The maximum number of files that a process may open here. */
export function fileLimit(): number {
  const text = execFileSync("sh", ["-c", "ulimit -Hn"]).toString().trim();
  return text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text);
}

/** Starts a vault, and waits until it listens. */
export async function startChildVault(options: ChildOptions): Promise<ChildVault> {
  const child = startChild("child-server.ts", [JSON.stringify(options)]);
  const started = once(child.process, "message") as Promise<[{ http: number; grpc: number }]>;
  const [ports] = await Promise.race([
    started,
    child.ended.then((how) => Promise.reject(new Error(`the vault ended: ${how}`))),
  ]);
  return { ...child, ...ports };
}

/** Starts a script of this folder that may open as many files as the machine allows. */
export function startChild(script: string, args: readonly string[]): Child {
  const file = bundledScript(join(import.meta.dirname, script));
  const command = 'ulimit -n "$(ulimit -Hn)"; exec "$0" --expose-gc "$@"';
  const child = spawn("sh", ["-c", command, process.execPath, file, ...args], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  child.on("error", () => undefined);
  const ended = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | string);
  return {
    process: child,
    ended,
    async ask<Answer>(question: unknown) {
      child.send(question as object);
      const [answer] = await once(child, "message");
      return answer as Answer;
    },
  };
}
