import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Has another process lock an SQLite file, as `BEGIN EXCLUSIVE` does. @returns a function that releases it */
export async function lockSqlite(file: string): Promise<() => Promise<void>> {
  const script = fileURLToPath(new URL("child-sqlite-locker.ts", import.meta.url));
  const child = spawn(process.execPath, [script, file], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const [said] = await Promise.race([once(child.stdout, "data"), ended]);
  if (String(said) !== "locked\n") throw new Error(`${file} could not be locked`);
  return async () => {
    child.stdin.end();
    const [code] = await ended;
    if (code !== 0) throw new Error(`the lock of ${file} ended with ${code}`);
  };
}

/** Counts the turns of the event loop, which a blocked loop does not have. */
export function countTurns(): { readonly turns: number; stop(): number } {
  let turns = 0;
  let next: NodeJS.Immediate;
  const turn = () => {
    turns++;
    next = setImmediate(turn);
  };
  turn();
  return {
    get turns() {
      return turns;
    },
    stop() {
      clearImmediate(next);
      return turns;
    },
  };
}
