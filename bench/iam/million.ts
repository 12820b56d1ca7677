/**
 * A million users and a million relationships over the API of one svc-iam: import, export, listing, and the deletion of
 * a group that all relationships name. What each takes in memory besides the data itself is bounded.
 * `node bench/iam/million.ts` runs it alone.
 */
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createEmbeddedEngine } from "../../src/authz/embedded/index.ts";
import { openSqliteStore } from "../../src/authz/store/sqlite/open-sqlite-store.ts";
import { readModelFile } from "../../src/model/index.ts";
import { besidePinned } from "../pinning.ts";
import { atMost, note } from "../verdict.ts";
import { MODEL, startIam } from "./iam-service.ts";
import { addUsers } from "./many-users.ts";
import { MemoryWatch } from "./memory-watch.ts";
import { MillionCalls } from "./million-calls.ts";

const COUNT = 1_000_000;
/** The most memory during an operation, of what the service has with the same data and nothing to do. */
const LIMIT = 1.5;

/** Prints what each operation takes. */
export async function benchIamMillion(): Promise<void> {
  process.stdout.write(`\niam-million: ${COUNT} users, ${COUNT} relationships\n`);
  await besidePinned(async () => {
    let owner = "";
    const iam = await startIam(1, async (relationships) => {
      const folder = dirname(relationships);
      owner = idOfFirstUser(folder);
      addUsers(folder, COUNT);
      await makeOwner(relationships, owner);
    });
    const calls = new MillionCalls(iam, owner);
    const memory = new MemoryWatch(iam.pid ?? 0);
    try {
      await measureAll(calls, memory);
    } finally {
      memory.stop();
      await calls.close();
      await iam.stop();
    }
  });
}

async function measureAll(calls: MillionCalls, memory: MemoryWatch): Promise<void> {
  const group = await calls.createGroup();
  const operations: readonly (readonly [string, () => Promise<number>])[] = [
    ["import", () => calls.importViewers(group, COUNT)],
    ["export", () => calls.exportAll()],
    ["listing of users", () => calls.listUsers()],
    [
      "deletion of a group",
      async () => {
        await calls.deleteGroup(group);
        return COUNT;
      },
    ],
  ];
  let atRest = 0;
  for (const [name, operation] of operations) {
    const begin = performance.now();
    memory.begin();
    const count = await operation();
    const seconds = (performance.now() - begin) / 1000;
    const peak = memory.peak();
    if (count < COUNT) throw new Error(`${name}: ${count} of ${COUNT}`);
    // With the relationships in memory, before anything else is asked.
    if (atRest === 0) atRest = memory.now();
    atMost(`memory of the ${name} / at rest`, peak / atRest, LIMIT);
    note(`  ${(count / seconds).toFixed(0)} a second, at most ${mebibytes(peak)}`);
  }
  note(`at rest ${mebibytes(atRest)}`);
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}

function idOfFirstUser(folder: string): string {
  const database = new DatabaseSync(`${folder}/iam.db`, { readOnly: true });
  const row = database.prepare("select id from iam_users").get() as { id: string };
  database.close();
  return row.id;
}

async function makeOwner(file: string, id: string): Promise<void> {
  const { model } = readModelFile(MODEL);
  if (model === undefined) throw new Error("the model is not valid");
  const engine = await createEmbeddedEngine({ model, store: await openSqliteStore({ file }) });
  const resource = { type: "zone", id: "acme" };
  const relationship = { resource, relation: "owner", subject: { type: "user", id } };
  await engine.writeRelationships({ updates: [{ operation: "TOUCH", relationship }] });
  await engine.close();
}

if (import.meta.main) await benchIamMillion();
