/** Processes that write through an engine are killed: every acknowledged write is stored, and no write is stored in part. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundledScript } from "../support/bundled-script.ts";
import { runs } from "../support/effort.ts";
import { documentEngine, viewersOf, views } from "./document-engine.ts";
import { CALLERS, expectedOf } from "./kill-load.ts";
import { onPostgres } from "./on-postgres.ts";
import { openSoon, openTarget, type StoreTarget } from "./store/store-target.ts";

const KILLS = runs(50, 2);
/** Stores that are written concurrently, by processes that are killed one after another. */
const LANES = 10;
const folder = mkdtempSync(join(tmpdir(), "svc-access-kill-"));
let script: string;
beforeAll(() => {
  script = bundledScript(join(import.meta.dirname, "child-engine.ts"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(`SQLite: nothing acknowledged is lost when ${KILLS} writing processes are killed [ENG-5]`, async () => {
  await inLanes((lane) => ({ sqlite: { file: join(folder, `lane-${lane}.db`) } }));
}, 300_000);

await onPostgres("an engine over PostgreSQL", ({ url, query }) => {
  test(`PostgreSQL: nothing acknowledged is lost when ${KILLS} writing processes are killed`, async () => {
    const names = Array.from({ length: LANES }, (_, lane) => `kill_${process.pid}_${lane}`);
    for (const name of names) await query(`create database ${name}`);
    await inLanes((lane) => {
      const at = new URL(url);
      at.pathname = `/${names[lane]}`;
      return { postgres: { url: at.href } };
    });
    for (const name of names) await query(`drop database ${name} with (force)`);
  }, 300_000);
});

async function inLanes(targetOf: (lane: number) => StoreTarget): Promise<void> {
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    const known = new Map<string, boolean>();
    let acknowledged = 0;
    for (let run = 0; run < KILLS / LANES; run++) {
      acknowledged += await killOne(targetOf(lane), String(run), known);
    }
    return acknowledged;
  });
  for (const acknowledged of await Promise.all(lanes)) expect(acknowledged).toBeGreaterThan(0);
}

/**
 * Lets a process write until it is killed, then reads what it stored.
 *
 * @param known whether each document of earlier runs is stored; those of this run are added
 * @returns how many writes were acknowledged
 */
async function killOne(
  target: StoreTarget,
  run: string,
  known: Map<string, boolean>,
): Promise<number> {
  const acknowledged = await writeUntilKilled(target, run);
  const engine = await documentEngine(await openSoon(target));
  try {
    // The process that has the lock keeps others out.
    await expect(openTarget(target)).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    const viewers = await viewersOf(engine);
    for (const [caller, last] of acknowledged.entries()) {
      for (const [document, expected] of expectedOf(run, caller, last)) {
        const isThere = expected ?? viewers.has(`${document}@left`);
        known.set(document, isThere);
        for (const user of ["left", "right"]) {
          const allowed = await views(engine, document, user);
          if (allowed !== isThere) expect.fail(`${document}@${user}: ${allowed}, not ${isThere}`);
        }
      }
    }
    const expected = [...known].filter(([, isThere]) => isThere).map(([document]) => document);
    viewers.delete("shared@someone");
    // Both of a pair or neither, and nothing that was refused.
    expect(viewers).toEqual(new Set(expected.flatMap((id) => [`${id}@left`, `${id}@right`])));
  } finally {
    await engine.close();
  }
  return acknowledged.reduce((sum, last) => sum + last + 1, 0);
}

/** The number of the last write that each caller saw acknowledged; -1 for none. */
async function writeUntilKilled(target: StoreTarget, run: string): Promise<number[]> {
  const child = spawn(process.execPath, [script, JSON.stringify(target), run], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const acknowledged = Array.from({ length: CALLERS }, () => -1);
  for await (const line of createInterface({ input: child.stdout })) {
    expect(line).toMatch(/^\d+ \d+$/);
    const [caller = 0, number = 0] = line.split(" ").map(Number);
    acknowledged[caller] = number;
  }
  expect(await ended).toEqual([null, "SIGKILL"]);
  return acknowledged;
}
