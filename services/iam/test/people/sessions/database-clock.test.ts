import { RevocationFeed } from "svc-access/runtime";
import { describe, expect, test } from "vitest";
import { ProviderDatabase } from "../../../src/ground/store/provider-database.ts";
import { clockedJobs, DatabaseClock } from "../../../src/people/sessions/database-clock.ts";
import { RevocationFollower } from "../../../src/people/sessions/follow-revocations.ts";
import { Revocations } from "../../../src/people/sessions/revocations.ts";
import { postgres, sqlite } from "../../support/databases.ts";

const HOUR = 3_600_000;

function clockOf() {
  const time = { offset: 0, passed: 1000 };
  const clock = new DatabaseClock({
    now: () => 1_800_000_000_000 + time.passed + time.offset,
    monotonic: () => time.passed,
  });
  clock.observe(1_800_000_001_000);
  return { time, clock };
}

test.each([
  ["an hour ahead", HOUR, "the clock of this process is 3600 s ahead of that of the database"],
  ["an hour behind", -HOUR, "the clock of this process is 3600 s behind that of the database"],
])("a clock %s is wrong at once, and right when it is set", (_, offset, problem) => {
  const { time, clock } = clockOf();
  expect(clock.problem).toBeUndefined();
  time.offset = offset;
  expect(clock.problem).toBe(problem);
  time.passed += 10 * HOUR;
  expect(clock.problem).toBe(problem);
  time.offset = 0;
  expect(clock.problem).toBeUndefined();
});

test("clocks may be apart by a minute, and a database without a clock of its own says nothing", () => {
  const { time, clock } = clockOf();
  time.offset = 60_000;
  expect(clock.problem).toBeUndefined();
  time.offset = -60_001;
  expect(clock.problem).toBeDefined();
  const none = new DatabaseClock({ now: () => 0, monotonic: () => 0 });
  none.observe(undefined);
  expect(none.problem).toBeUndefined();
});

test("jobs that delete wait while the clock is wrong", () => {
  const { time, clock } = clockOf();
  let ran = 0;
  const [job] = clockedJobs([{ name: "clean_up", every: "1m", run: () => void ran++ }], clock);
  const { signal } = new AbortController();
  time.offset = HOUR;
  job?.run(signal);
  expect(ran).toBe(0);
  time.offset = 0;
  job?.run(signal);
  expect(ran).toBe(1);
});

test("SQLite has no clock of its own", async () => {
  const { open } = await sqlite();
  const { databaseTime } = await new Revocations(new ProviderDatabase(open())).head();
  expect(databaseTime).toBeUndefined();
});

const create = await postgres();
describe.skipIf(create === undefined)("with the clock of PostgreSQL", () => {
  test.each([
    ["ahead", HOUR],
    ["behind", -HOUR],
  ])(
    "what a replica of which the clock is an hour %s revokes counts at once",
    async (_, offset) => {
      const { open } = await (create as NonNullable<typeof create>)();
      const original = Date.now;
      const [there, here] = [open(), open()].map(
        (database) => new Revocations(new ProviderDatabase(database)),
      ) as [Revocations, Revocations];
      Date.now = () => original() + offset;
      try {
        await there.revoke(
          { kind: "sid", value: "s" },
          { kind: "subject", value: "alice", subjectType: "user" },
        );
        await there.removeExpired();
      } finally {
        Date.now = original;
      }
      const iat = Math.floor(Date.now() / 1000);
      const token = { jti: "j", sid: "t", sub: "alice", subjectType: "user", iat };
      expect(await here.isRevoked(token)).toBe(true);
      expect(await here.isRevoked({ ...token, sub: "bob", sid: "s" })).toBe(true);
      const { revocations } = await here.after(-1, 10);
      expect(revocations).toHaveLength(2);
      for (const { keepUntil } of revocations) {
        const left = keepUntil - Date.now();
        expect(left).toBeGreaterThan(300_000);
        expect(left).toBeLessThan(600_000);
      }
    },
  );

  test("a replica with a wrong clock refuses tokens, except those that it knows to be revoked [IDP-24]", async () => {
    const { open } = await (create as NonNullable<typeof create>)();
    const revocations = new Revocations(new ProviderDatabase(open()));
    await revocations.revoke({ kind: "sid", value: "s1" });
    const time = { offset: 0 };
    const clock = new DatabaseClock({
      now: () => Date.now() + time.offset,
      monotonic: () => performance.now(),
    });
    const feed = new RevocationFeed({ isCurrent: () => follower.isCurrent });
    const follower = new RevocationFollower(revocations, feed, clock);
    const isRevoked = (sessionId: string) =>
      feed.isRevoked({
        id: "t",
        sessionId,
        subject: "a",
        subjectType: "user",
        iat: 1,
        issuedAt: 1,
      });
    await follower.look();
    expect(isRevoked("s2")).toBe(false);
    time.offset = -HOUR;
    expect(() => isRevoked("s2")).toThrow("revocations cannot be read");
    expect(isRevoked("s1")).toBe(true);
    await expect(follower.look()).rejects.toThrow("3600 s behind");
    time.offset = 0;
    await follower.look();
    expect(isRevoked("s2")).toBe(false);
  });
});
