/** The keys of repeated calls, in both databases, at two replicas. */
import { expect, test } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { migrate } from "../../../src/database/service/migrate.ts";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import { KEY_MIGRATIONS, type KeyTables } from "../../../src/runtime/idempotency/key-table.ts";
import { KEEP_MS, StoredKeys } from "../../../src/runtime/idempotency/stored-keys.ts";
import { onBoth } from "../../database/service/targets.ts";
import { SILENT } from "../../database/settings.ts";

const START = 1_800_000_000_000;
const PATIENCE = 60_000;
const RESPONSE = Buffer.from("the response");

await onBoth("the keys", ({ fresh }) => {
  async function begin() {
    const { database: settings } = await fresh();
    const clock = { now: START };
    const databases: Database<KeyTables>[] = [];
    for (let replica = 0; replica < 2; replica++) {
      const database = await openDatabase<KeyTables>(settings, { logger: SILENT });
      await migrate(database, KEY_MIGRATIONS);
      databases.push(database);
    }
    const stores = databases.map((database) => new StoredKeys(database, () => clock.now));
    const [first, second] = stores as [StoredKeys, StoredKeys];
    const attempt = (store: StoredKeys, request = "request") =>
      store.begin("key", request, PATIENCE);
    return {
      clock,
      first,
      second,
      attempt,
      rows: () => databases[0]?.kysely.selectFrom("idempotency_keys").selectAll().execute(),
      close: async () => {
        for (const database of databases) await database.close();
      },
    };
  }
  type Begun = Awaited<ReturnType<typeof begin>>;
  async function running({ first, attempt }: Begun) {
    const begun = await attempt(first);
    return begun.outcome === "run" ? begun : expect.fail(begun.outcome);
  }

  test("of many calls at once with one key, one runs [CHAIN-5]", async () => {
    const it = await begin();
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) => it.attempt(index % 2 === 0 ? it.first : it.second)),
    );
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual([
      ...Array(7).fill("busy"),
      "run",
    ]);
    await it.close();
  });

  test("a call that has succeeded is answered at each replica, for a day", async () => {
    const it = await begin();
    const { run } = await running(it);
    await it.first.succeeded("key", run, RESPONSE);
    it.clock.now += KEEP_MS - 1;
    const found = await it.attempt(it.second);
    expect(found.outcome === "done" && Buffer.from(found.response ?? [])).toEqual(RESPONSE);
    it.clock.now += 1;
    expect((await it.attempt(it.second)).outcome).toBe("run");
    await it.close();
  });

  test("another request with the key is neither run nor answered", async () => {
    const it = await begin();
    const { run } = await running(it);
    expect((await it.attempt(it.second, "other")).outcome).toBe("other");
    await it.first.succeeded("key", run, RESPONSE);
    expect((await it.attempt(it.second, "other")).outcome).toBe("other");
    await it.close();
  });

  test("a call that was refused leaves its key, also for another request", async () => {
    const it = await begin();
    const { run } = await running(it);
    await it.first.refused("key", run);
    expect((await it.attempt(it.second, "other")).outcome).toBe("run");
    await it.close();
  });

  test("a call that has failed is continued with the same id", async () => {
    const it = await begin();
    const { run, creationId } = await running(it);
    await it.first.failed("key", run);
    expect(await it.attempt(it.second)).toMatchObject({ outcome: "run", creationId });
    await it.close();
  });

  test("a call whose process has ended is continued after a while, by one", async () => {
    const it = await begin();
    const { run, creationId } = await running(it);
    it.clock.now += PATIENCE - 1;
    expect((await it.attempt(it.second)).outcome).toBe("busy");
    it.clock.now += 1;
    const both = await Promise.all([it.attempt(it.first), it.attempt(it.second)]);
    expect(both.map(({ outcome }) => outcome).toSorted()).toEqual(["busy", "run"]);
    expect(both.find(({ outcome }) => outcome === "run")).toMatchObject({ creationId });
    // The one that was given up no longer decides.
    await it.first.succeeded("key", run, RESPONSE);
    await it.first.refused("key", run);
    await it.first.failed("key", run);
    expect((await it.attempt(it.second)).outcome).toBe("busy");
    await it.close();
  });

  test("old keys are removed, and others stay", async () => {
    const it = await begin();
    const { signal } = new AbortController();
    await it.attempt(it.first);
    it.clock.now += KEEP_MS;
    await it.first.begin("newer", "request", PATIENCE);
    await it.first.removeExpired(signal);
    expect((await it.rows())?.map(({ key_hash }) => key_hash)).toEqual(["newer"]);
    await it.close();
  });
});
