/** Which missing encryption keys are logged: values from outside name them, and anybody can make one up. */
import { expect, test } from "vitest";
import { MissingKeyLog } from "../../../src/ground/secrets/missing-key-log.ts";
import { storedKeyIds } from "../../../src/ground/secrets/stored-key-ids.ts";
import type { EncryptionKeyTables } from "../../../src/ground/store/encryption-key-tables.ts";
import { stackDatabase } from "../../support/databases.ts";

const ids = { here: "hereAAAAAA", there: "thereAAAAA", former: "formerAAAA" };
const invented = (index: number) => String(index).padStart(10, "0");

async function replicas() {
  const database = await stackDatabase();
  const clock = { now: 1000 };
  const waiting = new Set<Promise<unknown>>();
  /** A replica with these keys, and the ids that it has logged. */
  const open = async (...keys: string[]) => {
    const logged: unknown[] = [];
    const error = (fields: object) => void logged.push((fields as { key: unknown }).key);
    const stored = storedKeyIds(database.open().as<EncryptionKeyTables>());
    const watched = {
      ...stored,
      async read() {
        const read = stored.read();
        waiting.add(read.catch(() => undefined));
        return read;
      },
    };
    const log = new MissingKeyLog({ error }, watched, () => clock.now);
    log.has(keys);
    await log.open();
    return { log, logged };
  };
  /** Waits for all reads, and those that follow them. */
  const settled = async () => {
    for (const read of waiting) {
      await read;
      await new Promise(setImmediate);
    }
  };
  return { clock, open, settled };
}

test("a key of another replica is logged once a minute, however often values name it", async () => {
  const { clock, open, settled } = await replicas();
  await open(ids.there);
  const { log, logged } = await open(ids.here);
  for (let count = 0; count < 3; count++) log.add(ids.there);
  expect(logged).toEqual([ids.there]);
  clock.now += 60_000;
  log.add(ids.there);
  await settled();
  expect(logged).toEqual([ids.there, ids.there]);
});

test("a key that was made up is not logged, and keeps no other one out of the log", async () => {
  const { open, settled } = await replicas();
  await open(ids.former);
  const { log, logged } = await open(ids.here);
  for (let index = 0; index < 500; index++) log.add(invented(index));
  await settled();
  expect(logged).toEqual([]);
  log.add(ids.former);
  expect(logged).toEqual([ids.former]);
});

test("one of a replica that has started since is logged, even if only one value names it among many", async () => {
  const { open, settled } = await replicas();
  const { log, logged } = await open(ids.here);
  for (let index = 0; index < 500; index++) log.add(invented(index));
  await open(ids.there);
  log.add(ids.there);
  for (let index = 500; index < 1000; index++) log.add(invented(index));
  await settled();
  expect(logged).toEqual([ids.there]);
});

test("without the database nothing is logged, and the next value is", async () => {
  const logged: object[] = [];
  let fails = false;
  let stored: readonly string[] = [];
  const log = new MissingKeyLog(
    { error: (fields: object) => void logged.push(fields) },
    {
      add: async () => undefined,
      async read() {
        if (fails) throw new Error("down");
        return stored;
      },
    },
  );
  await log.open();
  [fails, stored] = [true, [ids.there]];
  log.add(ids.there);
  await new Promise(setImmediate);
  expect(logged).toEqual([]);
  fails = false;
  log.add(ids.there);
  await new Promise(setImmediate);
  expect(logged).toEqual([{ key: ids.there }]);
});
