import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pinned } from "../pinning.ts";

/** A peer of `peers.ts` that runs. */
export interface Peer {
  readonly child: ChildProcess;
  /** What it says first, such as its port. */
  readonly hello: unknown;
}

/** Starts a peer on the processor of the measured process. */
export async function startPeer(kind: string, ...values: readonly unknown[]): Promise<Peer> {
  const [execPath, execArgv] = pinned(process.execPath, []);
  const texts = values.map((value) => JSON.stringify(value));
  const child = fork(join(import.meta.dirname, "peers.ts"), [kind, ...texts], {
    execPath,
    execArgv,
  });
  const ended = once(child, "exit").then(() => {
    throw new Error(`the peer ${kind} has ended`);
  });
  ended.catch(() => undefined);
  const [hello] = await Promise.race([once(child, "message"), ended]);
  return { child, hello };
}
