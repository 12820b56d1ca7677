/**
 * A process that deletes or creates a note, and is killed at one of its steps: `node child-notes.ts FOLDER ACTION
 * STEP`. It ends with 0 if it has no such step.
 */
import { openFolder, relationshipsOf, touching } from "./note-service.ts";

const [, , folder = "", action = "", last = ""] = process.argv;
let steps = 0;

/** Ends the process as a machine without power does, if this is the step. */
function step(): void {
  if (steps++ === Number(last)) process.kill(process.pid, "SIGKILL");
}

const clock = { now: Date.now() };
const { database, engine, removals } = await openFolder(folder, { clock, step });
const { signal } = new AbortController();

step();
if (action === "delete") {
  await database.inTransaction(async (transaction) => {
    await transaction
      .updateTable("notes")
      .set({ state: "deleted" })
      .where("id", "=", "a")
      .execute();
    step();
    await removals.add(transaction, "note", "a");
    step();
  });
  step();
  for (let turn = 0; turn < 2; turn++) {
    await removals.run(signal);
    step();
    clock.now += 30_000;
  }
} else {
  await database.inTransaction(async (transaction) => {
    await transaction.insertInto("notes").values({ id: "a", state: "creating" }).execute();
    step();
    await removals.beginCreation(transaction, "note", "a");
    step();
  });
  for (const relationship of relationshipsOf("a")) {
    step();
    await engine.writeRelationships(touching([relationship]));
  }
  step();
  await database.inTransaction(async (transaction) => {
    await removals.completeCreation(transaction, "note", "a");
    step();
    await transaction.updateTable("notes").set({ state: "ready" }).where("id", "=", "a").execute();
    step();
  });
  step();
}
await engine.close();
await database.close();
