import type { Kysely } from "svc-access/database";
import { describe, expect, test } from "vitest";
import { AddressQuota } from "../../../src/accounts/throttle/address-quota.ts";
import { LoginThrottle } from "../../../src/accounts/throttle/login-throttle.ts";
import type { UserTables } from "../../../src/store/user-tables.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";

const START = 1_800_000_000_000;
const HERE = "203.0.113.7";
const SPAN = 600_000;

const newPostgres = await postgres();
const databases: [string, () => Promise<TestDatabase>][] = [["SQLite", sqlite]];
if (newPostgres !== undefined) databases.push(["PostgreSQL", newPostgres]);

describe.each(databases)("on %s", (_, newDatabase) => {
  async function open() {
    const clock = { now: START };
    const database = await newDatabase();
    const kysely = () => database.open().kysely as unknown as Kysely<UserTables>;
    const quota = (purpose = "starts") =>
      new AddressQuota(kysely(), { purpose, most: 3, spanMs: SPAN }, () => clock.now);
    return { clock, kysely, quota };
  }

  test("after so many uses from an address, the next one waits for the end of the span", async () => {
    const { clock, quota } = await open();
    const one = quota();
    for (let count = 0; count < 3; count++) expect(await one.use(HERE)).toBeUndefined();
    clock.now += 1000;
    expect(await one.use(HERE)).toBe(SPAN - 1000);
    expect(await one.use("203.0.113.8")).toBeUndefined();
    expect(await quota("other").use(HERE)).toBeUndefined();
    clock.now = START + SPAN - 1;
    expect(await one.use(HERE)).toBe(1000);
    clock.now = START + SPAN;
    for (let count = 0; count < 3; count++) expect(await one.use(HERE)).toBeUndefined();
    expect(await one.use(HERE)).toBe(SPAN);
  });

  test("uses at once are counted one by one, on all replicas", async () => {
    const { quota } = await open();
    const replicas = [quota(), quota()];
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => replicas[index % 2]?.use(HERE)),
    );
    expect(results.filter((wait) => wait === undefined)).toHaveLength(3);
  });

  test("a clock that was an hour ahead does not lock an address out, nor one that is a bit behind let it in", async () => {
    const { clock, quota } = await open();
    const one = quota();
    clock.now += 3_600_000;
    for (let count = 0; count < 4; count++) await one.use(HERE);
    clock.now = START;
    expect(await one.use(HERE)).toBeUndefined();
    for (let count = 0; count < 3; count++) await one.use(HERE);
    clock.now -= 30_000;
    expect(await one.use(HERE)).toBe(SPAN + 30_000);
  });

  test("what is over is removed, and no more", async () => {
    const { clock, kysely, quota } = await open();
    const one = quota();
    for (let count = 0; count < 600; count++) await one.use(`10.0.${count >> 8}.${count & 255}`);
    clock.now += 3_600_001;
    await one.use(HERE);
    const db = kysely();
    await new LoginThrottle(db, () => clock.now).removeForgotten(new AbortController().signal);
    expect(await db.selectFrom("iam_throttles").selectAll().execute()).toHaveLength(1);
  });
});
