import { describe, expect, test } from "vitest";
import { Revocations } from "../../src/sessions/revocations.ts";
import { type RevocationNews, RevocationWatch } from "../../src/sessions/watch-revocations.ts";
import { ProviderDatabase } from "../../src/store/provider-database.ts";
import { postgres, sqlite, type TestDatabase } from "../support/databases.ts";

const TOKEN = { jti: "j", sid: "s", sub: "alice", subjectType: "user", iat: 1_800_000_000 };

describe.each([
  ["SQLite", 1, async () => sqlite],
  ["PostgreSQL", 3, postgres],
] as const)("revocations in %s", async (_, replicas, prepare) => {
  const found: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (found === undefined) return;
  const create = found;

  async function begin() {
    const clock = { now: 1_800_000_000_000 };
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
    revocations: Revocations,
    position: string,
    isEnough: (all: readonly RevocationNews[]) => boolean,
  ): Promise<RevocationNews[]> {
    const all: RevocationNews[] = [];
    const end = new AbortController();
    for await (const news of new RevocationWatch(revocations).watch(position, end.signal)) {
      all.push(news);
      if (isEnough(all)) break;
    }
    return all;
  }
  const values = (all: readonly RevocationNews[]) =>
    all.flatMap(({ revocations }) => revocations.map(({ value }) => value));

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

  test("a stream begins with all that count, and goes on with each new one within a second", async () => {
    const { first, last } = await begin();
    await first.revoke({ kind: "sid", value: "old" }, { kind: "jti", value: "older" });
    const started = Date.now();
    const reading = read(last, "", (all) => values(all).includes("new"));
    setTimeout(() => void first.revoke({ kind: "sid", value: "new" }), 300);
    const all = await reading;
    expect(Date.now() - started).toBeLessThan(1300);
    expect(all[0]).toMatchObject({ snapshotBegin: true, current: true });
    expect(values(all)).toEqual(["old", "older", "new"]);
    expect(all.slice(1).some(({ snapshotBegin }) => snapshotBegin)).toBe(false);
  });

  test("a stream without news is never silent for long", async () => {
    const { first } = await begin();
    const started = Date.now();
    const all = await read(first, "", ({ length }) => length === 3);
    expect(all.slice(1)).toMatchObject([
      { revocations: [], current: true },
      { revocations: [], current: true },
    ]);
    expect(Date.now() - started).toBeLessThan(4000);
  });

  test("a stream resumes where another one ended, and otherwise begins anew", async () => {
    const { first, last } = await begin();
    await first.revoke({ kind: "sid", value: "1" });
    const [news] = await read(last, "", ({ length }) => length === 1);
    await first.revoke({ kind: "sid", value: "2" });
    const resumed = await read(first, news?.position ?? "", ({ length }) => length === 1);
    expect(resumed).toMatchObject([{ snapshotBegin: false, current: true }]);
    expect(values(resumed)).toEqual(["2"]);
    for (const position of ["x", "1.x", `9${news?.position}`, "-1.a", "1e3.a", "__proto__.a"]) {
      const again = await read(first, position, ({ length }) => length === 1);
      expect(again[0]?.snapshotBegin).toBe(true);
      expect(values(again)).toEqual(["1", "2"]);
    }
  });

  test("a large snapshot comes in parts, of which only the last can be resumed", async () => {
    const { first } = await begin();
    const many = Array.from({ length: 1500 }, (_, index) => `s${index}`);
    await first.revoke(...many.map((value) => ({ kind: "sid", value }) as const));
    const all = await read(first, "", (parts) => parts.at(-1)?.current === true);
    expect(
      all.map(({ position, snapshotBegin, current }) => [position === "", snapshotBegin, current]),
    ).toEqual([
      [true, true, false],
      [false, false, true],
    ]);
    expect(values(all)).toEqual(many);
  });

  test("a stream of many writers misses nothing", async () => {
    const { first, last } = await begin();
    const names = Array.from({ length: 60 }, (_, index) => `s${index}`);
    const reading = read(last, "", (all) => new Set(values(all)).size === names.length);
    await Promise.all(
      names.map((value, index) => (index % 2 ? first : last).revoke({ kind: "sid", value })),
    );
    expect(new Set(values(await reading))).toEqual(new Set(names));
  });
});

test("a stream of a database that was restored begins anew", async () => {
  const { open } = await sqlite();
  const database = open();
  const revocations = new Revocations(new ProviderDatabase(database));
  await revocations.revoke({ kind: "sid", value: "1" }, { kind: "sid", value: "2" });
  const end = new AbortController();
  const stream = new RevocationWatch(revocations).watch("", end.signal);
  expect((await stream.next()).value).toMatchObject({ snapshotBegin: true });
  await database.kysely.deleteFrom("iam_revocations").where("position", "=", 2).execute();
  await database.kysely.updateTable("iam_revocation_head").set({ position: 1 }).execute();
  const restored = (await stream.next()).value;
  expect(restored).toMatchObject({ snapshotBegin: true, current: true });
  expect(restored?.revocations.map(({ value }: { value: string }) => value)).toEqual(["1"]);
  await stream.return(undefined);
});
