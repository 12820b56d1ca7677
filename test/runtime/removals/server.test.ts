/** Removals in a server: its job completes them, and its metrics show what is left. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createMemoryStore } from "../../../src/authz/index.ts";
import { metricProblems } from "../../../src/runtime/observers/metrics/service-metric.ts";
import { openRemovals } from "../../../src/runtime/removals/open-removals.ts";
import { settingsOf } from "../../database/settings.ts";
import { startVault } from "../support/vault-server.ts";
import { noteEngine, noteRemoval, openNotes, relationshipsOf, touching } from "./note-service.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-removals-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("the job of a server completes them, and its metrics show what is left [IAM-13]", async () => {
  const config = { database: settingsOf({ file: join(folder, "notes.db") }) };
  const database = await openNotes(config);
  const engine = await noteEngine(createMemoryStore());
  const clock = { ahead: 0 };
  const now = () => Date.now() + clock.ahead;
  const removals = await openRemovals({ database, engine, now });
  removals.register(noteRemoval);
  await engine.writeRelationships(touching(relationshipsOf("a")));
  const vault = await startVault({
    config,
    database,
    jobs: [{ ...removals.job, every: "100ms" }],
    metrics: removals.metrics,
  });
  const text = async () => (await fetch(`http://127.0.0.1:${vault.metrics}/metrics`)).text();
  expect(await text()).toContain('\nsvc_access_removals_pending{kind="note"} 0\n');
  await database.inTransaction(async (transaction) => {
    await transaction.insertInto("notes").values({ id: "a", state: "deleted" }).execute();
    await removals.add(transaction, "note", "a");
  });
  await expect
    .poll(text, { message: "the relationships are removed" })
    .toContain("\nsvc_access_removed_relationships_total 3\n");
  expect(await text()).toContain('\nsvc_access_removals_pending{kind="note"} 1\n');
  clock.ahead = 60_000;
  await expect
    .poll(text, { message: "the record is deleted" })
    .toContain('\nsvc_access_removals_pending{kind="note"} 0\n');
  expect(await text()).toContain('\nsvc_access_removals_oldest_seconds{kind="note"} 0\n');
  expect(await database.kysely.selectFrom("notes").selectAll().execute()).toEqual([]);
  await vault.stop();
  await engine.close();
});

test("only its own metrics have names of the runtime", async () => {
  const database = await openNotes({ database: settingsOf({ file: join(folder, "others.db") }) });
  const { metrics } = await openRemovals({ database, engine: {} as never });
  expect(metricProblems(metrics)).toEqual([]);
  expect(metricProblems(metrics.map((metric) => ({ ...metric })))).toHaveLength(metrics.length);
  await database.close();
});
