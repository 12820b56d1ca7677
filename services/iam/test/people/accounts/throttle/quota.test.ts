import type { Kysely } from "svc-access/database";
import { describe, expect, test } from "vitest";
import type { UserTables } from "../../../../src/ground/store/user-tables.ts";
import { LoginThrottle } from "../../../../src/people/accounts/throttle/login-throttle.ts";
import { Quota } from "../../../../src/people/accounts/throttle/quota.ts";
import { postgres, sqlite, type TestDatabase } from "../../../support/databases.ts";

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
      new Quota(kysely(), { purpose, most: 3, spanMs: SPAN }, () => clock.now);
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

  test("whether a use is refused can be asked without a use", async () => {
    const { clock, quota } = await open();
    const one = quota();
    for (let count = 0; count < 3; count++) {
      for (let asked = 0; asked < 5; asked++) expect(await one.wait(HERE)).toBeUndefined();
      expect(await one.use(HERE)).toBeUndefined();
    }
    clock.now += 1000;
    expect(await one.wait(HERE)).toBe(SPAN - 1000);
    expect(await one.wait("203.0.113.8")).toBeUndefined();
    clock.now = START + SPAN;
    expect(await one.wait(HERE)).toBeUndefined();
  });

  test("a use by two is another one than by the first", async () => {
    const { quota } = await open();
    const one = quota();
    for (let count = 0; count < 3; count++) await one.use("alice", "console");
    expect(await one.use("alice", "console")).toBe(SPAN);
    expect(await one.use("alice", "hub")).toBeUndefined();
    expect(await one.use("alice")).toBeUndefined();
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
