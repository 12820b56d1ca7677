/** A process is killed at each step of a deletion and of a creation: the next one completes it, or gives it up. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundledScript } from "../../support/bundled-script.ts";
import { childOf, openFolder, relationshipsOf, touching } from "./note-service.ts";

/** So many that they are removed by several writes. */
const CHILDREN = 700;
const OTHER = childOf("b", "other");
const { signal } = new AbortController();

const folder = mkdtempSync(join(tmpdir(), "svc-access-removals-"));
let script: string;
beforeAll(() => {
  script = bundledScript(join(import.meta.dirname, "child-notes.ts"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The state of the service once what was left to do is done. */
async function resume(of: string) {
  const clock = { now: Date.now() };
  const { database, engine, removals } = await openFolder(of, { clock });
  const seen = await database.kysely.selectFrom("notes").select("state").execute();
  // Past the time of a creation, and then until nothing comes any more.
  for (const pause of [700_000, 60_000, 60_000]) {
    clock.now += pause;
    await removals.run(signal);
  }
  const left = await database.kysely.selectFrom("notes").select("state").execute();
  const { items } = await engine.readRelationships({});
  const samples = await removals.metrics[0]?.read();
  await engine.close();
  await database.close();
  return { seen, left, relationships: items.length, pending: samples?.[0]?.value };
}

/** Does an action in a process that is killed at a step. @returns false if it has no such step */
async function killAt(of: string, action: string, step: number): Promise<boolean> {
  const args = [script, of, action, String(step)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  const [code, ended] = await once(child, "exit");
  if (ended === null) expect(code).toBe(0);
  else expect(ended).toBe("SIGKILL");
  return ended !== null;
}

test("a deletion that was recorded is completed, and another one has not begun [IAM-13]", async () => {
  const outcomes = new Set<string>();
  let step = 0;
  for (let isKilled = true; isKilled; step++) {
    const own = join(folder, `delete-${step}`);
    mkdirSync(own);
    const { database, engine } = await openFolder(own, { clock: { now: Date.now() } });
    await database.kysely.insertInto("notes").values({ id: "a", state: "ready" }).execute();
    const children = Array.from({ length: CHILDREN }, (_, index) => childOf("a", `c${index}`));
    await engine.writeRelationships(touching([...relationshipsOf("a"), ...children, OTHER]));
    await engine.close();
    await database.close();

    isKilled = await killAt(own, "delete", step);
    const { seen, left, relationships, pending } = await resume(own);
    const [before] = seen;
    outcomes.add(before?.state ?? "gone");
    const stays = before?.state === "ready";
    expect({ left, relationships, pending }, `killed at ${step}`).toEqual({
      left: stays ? seen : [],
      relationships: stays ? relationshipsOf("a").length + CHILDREN + 1 : 1,
      pending: 0,
    });
  }
  expect(step).toBeGreaterThan(10);
  expect(outcomes).toEqual(new Set(["ready", "deleted", "gone"]));
});

test("a creation that was not completed leaves nothing, and nobody has seen it [IAM-13]", async () => {
  const outcomes = new Set<string>();
  let step = 0;
  for (let isKilled = true; isKilled; step++) {
    const own = join(folder, `create-${step}`);
    mkdirSync(own);
    isKilled = await killAt(own, "create", step);
    const { seen, left, relationships, pending } = await resume(own);
    const [before] = seen;
    outcomes.add(before?.state ?? "none");
    const stays = before?.state === "ready";
    expect({ left, relationships, pending }, `killed at ${step}`).toEqual({
      left: stays ? seen : [],
      relationships: stays ? relationshipsOf("a").length : 0,
      pending: 0,
    });
  }
  expect(step).toBeGreaterThan(8);
  expect(outcomes).toEqual(new Set(["none", "creating", "ready"]));
});
