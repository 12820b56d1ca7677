import type { RevocationFeed, RevocationFeedResponse } from "svc-access/runtime";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ProviderDatabase } from "../../../src/ground/store/provider-database.ts";
import { openRevocationFeed } from "../../../src/people/sessions/open-revocation-feed.ts";
import { Revocations } from "../../../src/people/sessions/revocations.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";

const TOKEN = { jti: "j", sid: "s", sub: "alice", subjectType: "user", iat: 1_800_000_000 };

describe.each([
  ["SQLite", 1, async () => sqlite],
  ["PostgreSQL", 3, postgres],
] as const)("revocations in %s", async (_, replicas, prepare) => {
  const found: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (found === undefined) return;
  const create = found;

  async function begin(now = 1_800_000_000_000) {
    const clock = { now };
    const { open } = await create();
    const all = Array.from(
      { length: replicas },
      () => new Revocations(new ProviderDatabase(open()), () => clock.now),
    );
    const [first, last] = [all[0], all.at(-1)] as [Revocations, Revocations];
    return { clock, first, last, open };
  }

  /** Reads a stream until a condition holds. */
  async function read(
    feed: RevocationFeed,
    position: string,
    isEnough: (all: readonly RevocationFeedResponse[]) => boolean,
  ): Promise<RevocationFeedResponse[]> {
    const all: RevocationFeedResponse[] = [];
    for await (const news of feed.watch(position, new AbortController().signal)) {
      all.push(news);
      if (isEnough(all)) break;
    }
    return all;
  }
  /** A feed whose job runs. */
  async function feedOf(revocations: Revocations): Promise<RevocationFeed> {
    const { feed, job } = await openRevocationFeed(revocations);
    let running: Promise<void> | void;
    const timer = setInterval(() => {
      running = job.run(new AbortController().signal);
    }, 200);
    onTestFinished(async () => {
      clearInterval(timer);
      // The database is closed next.
      await running;
    });
    return feed;
  }
  const values = (all: readonly RevocationFeedResponse[]) =>
    all.flatMap(({ revocations }) =>
      revocations.map(({ revoked }) => (revoked.case === "subject" ? "" : revoked.value)),
    );

  test("a token is ended by its id, its session or its subject, until it has expired", async () => {
    const { clock, first, last } = await begin();
    expect(await last.isRevoked(TOKEN)).toBe(false);
    await first.revoke({ kind: "jti", value: "j" });
    expect(await last.isRevoked(TOKEN)).toBe(true);
    expect(await last.isRevoked({ ...TOKEN, jti: "other" })).toBe(false);
    await first.revoke({ kind: "sid", value: "s2" });
    expect(await last.isRevoked({ ...TOKEN, jti: "other", sid: "s2" })).toBe(true);
    await first.revoke({ kind: "subject", value: "bob", subjectType: "user" });
    const bob = { ...TOKEN, jti: "b", sub: "bob" };
    expect(await last.isRevoked(bob)).toBe(true);
    expect(await last.isRevoked({ ...bob, subjectType: "service_account" })).toBe(false);
    expect(await last.isRevoked({ ...bob, iat: bob.iat + 120 })).toBe(false);
    clock.now += 421_000;
    expect(await last.isRevoked(TOKEN)).toBe(false);
    clock.now += 200_000;
    await first.removeExpired();
    expect((await last.after(-1, 10)).revocations).toEqual([]);
  });

  test("a stream has all that count, and each new one of any replica within a second [IDP-5]", async () => {
    const { first, last } = await begin(Date.now());
    await first.revoke({ kind: "sid", value: "old" }, { kind: "jti", value: "older" });
    const feed = await feedOf(last);
    const reading = read(feed, "", (all) => values(all).includes("new"));
    const started = Date.now();
    await first.revoke({ kind: "sid", value: "new" });
    const all = await reading;
    expect(Date.now() - started).toBeLessThan(1000);
    expect(all[0]).toMatchObject({ snapshotBegin: true, current: true });
    expect(values(all)).toEqual(["old", "older", "new"]);
  });

  test("what this process ends counts in it when that returns, also for many at once [IDP-22]", async () => {
    const { first } = await begin(Date.now());
    const { feed } = await openRevocationFeed(first);
    const now = Math.floor(Date.now() / 1000);
    const about = { id: "j", subject: "alice", subjectType: "user", iat: now, issuedAt: now };
    const isRevoked = (sessionId: string) => feed.isRevoked({ ...about, sessionId });
    expect(isRevoked("s0")).toBe(false);
    const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
    const counted = await Promise.all(
      names.map(async (value) => {
        await first.revoke({ kind: "sid", value });
        return isRevoked(value);
      }),
    );
    expect(counted).toEqual(names.map(() => true));
  });

  test("a stream of many writers misses nothing", async () => {
    const { first, last } = await begin(Date.now());
    const names = Array.from({ length: 60 }, (_, index) => `s${index}`);
    const feed = await feedOf(last);
    const reading = read(feed, "", (all) => new Set(values(all)).size === names.length);
    await Promise.all(
      names.map((value, index) => (index % 2 ? first : last).revoke({ kind: "sid", value })),
    );
    expect(new Set(values(await reading))).toEqual(new Set(names));
  });
});

describe("in SQLite, whose clock is that of the process,", () => {
  afterEach(() => vi.restoreAllMocks());

  test.each([
    ["ahead when it is read", 0, 3_600_000],
    ["behind when it is stored", -3_600_000, 0],
  ])("a revocation counts although the clock is an hour %s", async (_, stored, read) => {
    const right = Date.now();
    const clock = vi.spyOn(Date, "now").mockReturnValue(right + stored);
    const { open } = await sqlite();
    await new Revocations(new ProviderDatabase(open())).revoke({ kind: "jti", value: "j" });
    clock.mockReturnValue(right + read);
    // A process that has just started.
    const revocations = new Revocations(new ProviderDatabase(open()));
    expect(await revocations.isRevoked(TOKEN)).toBe(true);
    const found = (await revocations.after(-1, 10)).revocations;
    expect(found).toMatchObject([{ kind: "jti", value: "j" }]);
    // For as long as a token may live from now on, whatever the clock shows later.
    expect(found[0]?.keepUntil).toBeGreaterThanOrEqual(right + read + 420_000);
    clock.mockReturnValue(right + 4 * 3_600_000);
    expect(await revocations.isRevoked(TOKEN)).toBe(false);
    expect((await revocations.after(-1, 10)).revocations).toEqual([]);
  });
});

test("after a restore from a backup, all revocations are read again [IDP-5]", async () => {
  const { open } = await sqlite();
  const database = open();
  const revocations = new Revocations(new ProviderDatabase(database));
  await revocations.revoke({ kind: "sid", value: "1" }, { kind: "sid", value: "2" });
  const { feed, job } = await openRevocationFeed(revocations);
  await database.kysely.deleteFrom("iam_revocations").where("position", "=", 2).execute();
  await database.kysely.updateTable("iam_revocation_head").set({ position: 1 }).execute();
  await job.run(new AbortController().signal);
  await revocations.revoke({ kind: "sid", value: "3" });
  await job.run(new AbortController().signal);
  // What was revoked stays so.
  expect(feed.size).toBe(3);
});
