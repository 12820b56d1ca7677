/**
 * A million users and a million relationships over the API of one svc-iam: import, export, listings, and the deletion
 * of a group and of a user whom all relationships name. What each takes in memory besides the data itself is bounded:
 * the heap of svc-iam is, as in a container, so that the process would end if an operation kept more, and the rest,
 * where the relationships are, is measured.
 * `node bench/iam/million.ts` runs it alone; with a number, it has so many of both.
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
/**
 * The heap that svc-iam may have, of which it uses less than 100 MiB at rest. Without a limit V8 lets it grow to several
 * times the memory of the process before it collects garbage.
 */
const HEAP_MIB = 384;
/** The most memory during an operation, of what the service has with the same data and nothing to do. */
const LIMIT = 1.5;

/** Prints what each operation takes. */
export async function benchIamMillion(count = COUNT): Promise<void> {
  process.stdout.write(
    `\niam-million: ${count} users, ${count} relationships, a heap of ${HEAP_MIB} MiB\n`,
  );
  await besidePinned(async () => {
    let owner = "";
    const fill = async (relationships: string) => {
      const folder = dirname(relationships);
      owner = idOfFirstUser(folder);
      addUsers(folder, count);
      await makeOwner(relationships, owner);
    };
    const iam = await startIam(1, fill, [`--max-old-space-size=${HEAP_MIB}`]);
    const calls = new MillionCalls(iam, owner);
    const memory = new MemoryWatch(iam.pid ?? 0);
    try {
      await measureAll(calls, memory, count);
    } finally {
      memory.stop();
      await calls.close();
      await iam.stop();
    }
  });
}

async function measureAll(calls: MillionCalls, memory: MemoryWatch, all: number): Promise<void> {
  const group = await calls.createGroup();
  const user = await calls.anotherUser();
  const operations: readonly (readonly [string, () => Promise<number>])[] = [
    ["import", () => calls.importViewers(group, all)],
    ["export", () => calls.exportAll()],
    ["listing of users", () => calls.listUsers()],
    [
      "deletion of a group",
      async () => {
        await calls.deleteGroup(group);
        return all;
      },
    ],
    ["second import", () => calls.importOwner(user, all)],
    ["listing of relationships", () => calls.listRelationships(user)],
    [
      "deletion of a user",
      async () => {
        await calls.deleteUser(user);
        return all;
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
    if (count < all) throw new Error(`${name}: ${count} of ${all}`);
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

if (import.meta.main) await benchIamMillion(Number(process.argv[2] ?? COUNT));
