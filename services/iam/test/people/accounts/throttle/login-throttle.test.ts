import type { Kysely } from "svc-access/database";
import { beforeEach, describe, expect, test } from "vitest";
import type { UserTables } from "../../../../src/ground/store/user-tables.ts";
import { LoginThrottle } from "../../../../src/people/accounts/throttle/login-throttle.ts";
import { postgres, sqlite, type TestDatabase } from "../../../support/databases.ts";

const START = 1_800_000_000_000;
const HERE = "203.0.113.7";

const newPostgres = await postgres();
const databases: [string, () => Promise<TestDatabase>][] = [["SQLite", sqlite]];
if (newPostgres !== undefined) databases.push(["PostgreSQL", newPostgres]);

describe.each(databases)("on %s", (_, newDatabase) => {
  let now = START;
  let database: TestDatabase;
  let throttle: LoginThrottle;

  const open = () =>
    new LoginThrottle(database.open().kysely as unknown as Kysely<UserTables>, () => now);
  beforeEach(async () => {
    now = START;
    database = await newDatabase();
    throttle = open();
  });

  /** Fails so often, as soon as it may. */
  async function fail(times: number, account = "alice", address = HERE) {
    for (let count = 0; count < times; count++) {
      const permission = await throttle.begin(account, address);
      if (permission.allowed) continue;
      now += permission.retryAfterMs;
      expect(await throttle.begin(account, address)).toMatchObject({ allowed: true });
    }
  }

  test("the first failures have no consequence, the next ones take twice as long each", async () => {
    for (let count = 0; count < 5; count++) {
      expect(await throttle.begin("alice", HERE)).toEqual({ allowed: true, pauseMs: 0 });
    }
    for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 512]) {
      const refused = await throttle.begin("alice", HERE);
      expect(refused).toEqual({ allowed: false, retryAfterMs: seconds * 1000 });
      now += seconds * 1000 - 1;
      expect(await throttle.begin("alice", HERE)).toMatchObject({ allowed: false });
      now += 1;
      expect(await throttle.begin("alice", HERE)).toMatchObject({ allowed: true });
    }
  });

  test("other accounts and addresses are not concerned", async () => {
    await fail(10);
    expect(await throttle.begin("bob", HERE)).toMatchObject({ allowed: true });
    expect(await throttle.begin("alice", "203.0.113.8")).toMatchObject({ allowed: true });
  });

  test("attempts at once are counted one by one, on all replicas [IDP-6]", async () => {
    const replicas = [throttle, open()];
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, index) => replicas[index % 2]?.begin("alice", HERE)),
    );
    expect(results.filter((result) => result?.allowed)).toHaveLength(5);
  });

  test("an address that tries many accounts is refused [IDP-6]", async () => {
    for (let count = 0; count < 50; count++) {
      expect(await throttle.begin(`user${count}`, HERE)).toMatchObject({ allowed: true });
    }
    expect(await throttle.begin("another", HERE)).toEqual({ allowed: false, retryAfterMs: 1000 });
    expect(await throttle.begin("another", "203.0.113.8")).toMatchObject({ allowed: true });
  });

  test("an address that is refused adds nothing to the database [IDP-6]", async () => {
    for (let count = 0; count < 50; count++) await throttle.begin(`user${count}`, HERE);
    const kysely = database.open().kysely as unknown as Kysely<UserTables>;
    const rows = () => kysely.selectFrom("iam_throttles").selectAll().orderBy("key").execute();
    expect(await throttle.begin("another", HERE)).toMatchObject({ allowed: false });
    const before = await rows();
    for (let count = 0; count < 10; count++) {
      expect(await throttle.begin(`more${count}`, HERE)).toEqual({
        allowed: false,
        retryAfterMs: 1000,
      });
    }
    expect(await rows()).toEqual(before);
  });

  test("an account that is tried from many addresses is slowed, and never refused [IDP-6]", async () => {
    const pauses: number[] = [];
    for (let count = 0; count < 30; count++) {
      const permission = await throttle.begin("alice", `198.51.100.${count}`);
      pauses.push(permission.allowed ? permission.pauseMs : Number.NaN);
    }
    expect(pauses.slice(0, 20)).toEqual(Array(20).fill(0));
    expect(pauses.slice(20)).toEqual([250, 500, 1000, 2000, 4000, 4000, 4000, 4000, 4000, 4000]);
  });

  test("a right password takes the attempt back, and forgives the failures before it", async () => {
    for (let count = 0; count < 200; count++) {
      expect(await throttle.begin("alice", HERE)).toEqual({ allowed: true, pauseMs: 0 });
      await throttle.succeeded("alice", HERE);
    }
    await fail(5);
    await throttle.succeeded("alice", HERE);
    expect(await throttle.begin("alice", HERE)).toMatchObject({ allowed: true });
  });

  test("failures are forgotten after an hour", async () => {
    await fail(12);
    now += 3_600_001;
    for (let count = 0; count < 5; count++) {
      expect(await throttle.begin("alice", HERE)).toEqual({ allowed: true, pauseMs: 0 });
    }
    expect(await throttle.begin("alice", HERE)).toMatchObject({ allowed: false });
  });

  test("a clock that was set back locks nobody out", async () => {
    await fail(8);
    now -= 24 * 3_600_000;
    expect(await throttle.begin("alice", HERE)).toMatchObject({ allowed: true });
  });

  test("what is forgotten is removed, and the rest is kept", async () => {
    await fail(5, "alice");
    now += 3_600_000;
    await fail(5, "bob", "203.0.113.8");
    now += 1;
    await throttle.removeForgotten(new AbortController().signal);
    const { kysely } = database.open();
    const rows = await (kysely as unknown as Kysely<UserTables>)
      .selectFrom("iam_throttles")
      .selectAll()
      .execute();
    expect(rows).toHaveLength(3);
    expect(await throttle.begin("bob", "203.0.113.8")).toMatchObject({ allowed: false });
  });
});
