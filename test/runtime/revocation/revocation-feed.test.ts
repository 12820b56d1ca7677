import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { RevocableToken } from "../../../src/runtime/authn/jwt/revocation-list.ts";
import type { Revocation } from "../../../src/runtime/revocation/revocation.ts";
import { RevocationFeed } from "../../../src/runtime/revocation/revocation-feed.ts";
import type { RevocationFeedOptions } from "../../../src/runtime/revocation/revocation-feed-options.ts";
import type { RevocationFeedResponse } from "../../../src/runtime/revocation/revocation-feed-response.ts";
import { DAY, HOUR, TestClocks } from "./clocks.ts";

const clocks = new TestClocks();
const token = (id: number | string): Revocation => ({
  tokenId: `t${id}`,
  keepUntil: clocks.time + HOUR,
});
const tokens = (count: number) => Array.from({ length: count }, (_, index) => token(index));
const feedOf = (options: RevocationFeedOptions = {}) => new RevocationFeed({ clocks, ...options });

const claims = (of: Partial<RevocableToken> = {}): RevocableToken => ({
  id: "t",
  sessionId: "s1",
  subject: "alice",
  subjectType: "user",
  iat: 1,
  issuedAt: 1,
  ...of,
});

/** Reads a watch step by step. */
class Watch {
  readonly abort = new AbortController();
  readonly #responses: AsyncGenerator<RevocationFeedResponse>;

  constructor(feed: RevocationFeed, position = "") {
    this.#responses = feed.watch(position, this.abort.signal);
  }

  async next(): Promise<RevocationFeedResponse> {
    const { value, done } = await this.#responses.next();
    if (done === true) throw new Error("the watch has ended");
    return value;
  }

  /** The ids until everything is known. */
  async ids(): Promise<{ ids: string[]; last: RevocationFeedResponse; snapshots: number }> {
    const ids: string[] = [];
    let snapshots = 0;
    for (;;) {
      const response = await this.next();
      if (response.snapshotBegin) snapshots++;
      ids.push(...response.revocations.map(({ revoked }) => String(revoked.value)));
      if (response.current) return { ids, last: response, snapshots };
    }
  }
}

describe("a revocation that is not valid is not published", () => {
  const until = clocks.time + HOUR;
  const of = (subject: object) => ({ subject, keepUntil: until }) as Revocation;
  test.each<[string, Revocation]>([
    ["an empty session", { sessionId: "", keepUntil: until }],
    ["a session that is too long", { sessionId: "s".repeat(513), keepUntil: until }],
    ["an empty token", { tokenId: "", keepUntil: until }],
    ["a token that is not text", { tokenId: 7 as never, keepUntil: until }],
    ["nothing", { keepUntil: until } as never],
    ["no end", { tokenId: "t" } as never],
    ["an end that is not a number", { tokenId: "t", keepUntil: Number.NaN }],
    ["an end that is endless", { tokenId: "t", keepUntil: Number.POSITIVE_INFINITY }],
    ["a service", of({ type: "service", id: "hub", issuedUntil: 1 })],
    ["a subject without an id", of({ type: "user", id: "", issuedUntil: 1 })],
    ["a subject with a space", of({ type: "user", id: "a b", issuedUntil: 1 })],
    ["a subject without a time", of({ type: "user", id: "alice" })],
  ])("%s", async (_, revocation) => {
    const feed = feedOf();
    expect(() => feed.publish(revocation)).toThrow(TypeError);
    expect(() => feedOf({ initial: [revocation] })).toThrow(TypeError);
    expect((await new Watch(feed).next()).revocations).toEqual([]);
  });
});

test("a full feed has room again once some have ended", async () => {
  const feed = feedOf({ capacity: 2, initial: tokens(2) });
  feed.publish({ ...token(1), keepUntil: clocks.time + 2 * HOUR });
  expect((await new Watch(feed).ids()).ids).toEqual(["t0", "t1"]);
  clocks.pass(HOUR);
  feed.publish(token(2));
  expect((await new Watch(feed).ids()).ids).toEqual(["t1", "t2"]);
});

test("a full feed that would have to drop one refuses: nobody may believe that it has all", async () => {
  expect(() => feedOf({ capacity: 1, initial: tokens(2) })).toThrow(RangeError);
  const feed = feedOf({ capacity: 2, initial: tokens(2) });
  const watch = new Watch(feed);
  await watch.ids();
  const waiting = watch.next();
  expect(() => feed.publish(token(2))).toThrow(RangeError);
  await expect(waiting).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(feed.isRevoked(claims({ id: "t1" }))).toBe(true);
  expect(feed.isFull).toBe(true);
  expect(() => feed.isRevoked(claims({ id: "t2" }))).toThrow("the feed of revocations is full");
  await expect(new Watch(feed).next()).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

describe("a feed that was full", () => {
  const stored = (revocations: readonly Revocation[]) =>
    (async function* () {
      yield* revocations;
    })();

  test("serves again once others have expired, with what it missed, and no restart", async () => {
    const feed = feedOf({ capacity: 2, initial: tokens(2) });
    const { last } = await new Watch(feed).ids();
    const missed = { ...token(2), keepUntil: clocks.time + 3 * HOUR };
    expect(() => feed.publish(missed)).toThrow(RangeError);
    const all = [...tokens(2), missed];
    expect(await feed.recover(stored(all))).toBe(false);
    expect(() => feed.isRevoked(claims())).toThrow("is full");
    clocks.pass(2 * HOUR);
    expect(await feed.recover([missed])).toBe(true);
    expect(feed.isFull).toBe(false);
    expect(feed.isRevoked(claims({ id: "t2" }))).toBe(true);
    expect(feed.isRevoked(claims({ id: "t9" }))).toBe(false);
    expect((await new Watch(feed, last.position).ids()).ids).toEqual(["t2"]);
    expect((await new Watch(feed).ids()).ids).toEqual(["t2"]);
  });

  test("stays full if another one found no room meanwhile", async () => {
    const feed = feedOf({ capacity: 1, initial: tokens(1) });
    expect(() => feed.publish(token(1))).toThrow(RangeError);
    const racing = async function* () {
      yield token(0);
      expect(() => feed.publish(token(2))).toThrow(RangeError);
    };
    expect(await feed.recover(racing())).toBe(false);
    expect(feed.isFull).toBe(true);
  });

  test("stays full while the stored ones cannot be read", async () => {
    const feed = feedOf({ capacity: 1, initial: tokens(1) });
    expect(() => feed.publish(token(1))).toThrow(RangeError);
    const failing = async function* (): AsyncGenerator<Revocation> {
      yield token(0);
      throw new Error("the database is down");
    };
    await expect(feed.recover(failing())).rejects.toThrow("the database is down");
    expect(feed.isFull).toBe(true);
  });
});

test("a clock that jumps ahead ends no revocation", () => {
  const feed = feedOf({ capacity: 2, initial: tokens(2) });
  clocks.jump(30 * DAY);
  expect(() => feed.publish(token(2))).toThrow(RangeError);
  clocks.jump(-30 * DAY);
  expect(feed.size).toBe(2);
});

test("it is the list of its own service, too", () => {
  let isCurrent = true;
  const feed = feedOf({ isCurrent: () => isCurrent });
  expect(feed.isRevoked(claims())).toBe(false);
  feed.publish({ sessionId: "s1", keepUntil: clocks.time + HOUR });
  expect(feed.isRevoked(claims())).toBe(true);
  isCurrent = false;
  expect(feed.isRevoked(claims())).toBe(true);
  expect(() => feed.isRevoked(claims({ sessionId: "s2" }))).toThrow("revocations cannot be read");
});

test("while the store cannot be read, watchers get what is known, and that something is missing", async () => {
  let isCurrent = false;
  const feed = feedOf({ isCurrent: () => isCurrent, initial: tokens(1) });
  const watch = new Watch(feed);
  const first = await watch.next();
  expect(first).toMatchObject({ current: false, snapshotBegin: true, revocations: [{}] });
  isCurrent = true;
  feed.publish(token(1));
  expect(await watch.next()).toMatchObject({ current: true, revocations: [{}] });
});

test("the first call gets all of them, as they are sent", async () => {
  const keepUntil = clocks.time + HOUR;
  const initial: Revocation[] = [
    { sessionId: "s", keepUntil },
    { tokenId: "t", keepUntil },
    { subject: { type: "service_account", id: "ci", issuedUntil: 1_500 }, keepUntil },
  ];
  const until = { seconds: BigInt(keepUntil / 1000), nanos: 0 };
  expect(await new Watch(feedOf({ initial })).next()).toEqual({
    position: expect.stringMatching(/^.{36}\.0$/),
    snapshotBegin: true,
    current: true,
    time: { seconds: BigInt(clocks.time / 1000), nanos: 0 },
    revocations: [
      { revoked: { case: "sessionId", value: "s" }, keepUntil: until },
      { revoked: { case: "tokenId", value: "t" }, keepUntil: until },
      {
        revoked: {
          case: "subject",
          value: {
            subjectId: "ci",
            subjectType: "service_account",
            issuedUntil: { seconds: 1n, nanos: 500_000_000 },
          },
        },
        keepUntil: until,
      },
    ],
  });
});

test("a large snapshot comes in parts, which cannot be resumed but for the last", async () => {
  const watch = new Watch(feedOf({ initial: tokens(2500) }));
  const parts = [await watch.next(), await watch.next(), await watch.next()];
  expect(parts.map(({ revocations }) => revocations.length)).toEqual([1000, 1000, 500]);
  expect(parts.map(({ snapshotBegin }) => snapshotBegin)).toEqual([true, false, false]);
  expect(parts.map(({ current }) => current)).toEqual([false, false, true]);
  expect(parts.map(({ position }) => position !== "")).toEqual([false, false, true]);
});

test("each of several watchers gets a new one at once, and one that adds nothing does not come", async () => {
  const feed = feedOf({ initial: tokens(1) });
  const watches = [new Watch(feed), new Watch(feed)];
  for (const watch of watches) await watch.ids();
  const waiting = watches.map((watch) => watch.next());
  feed.publish(token(0));
  feed.publish(token(1));
  for (const { revocations, current } of await Promise.all(waiting)) {
    expect(revocations.map(({ revoked }) => revoked.value)).toEqual(["t1"]);
    expect(current).toBe(true);
  }
});

test("what is published during a snapshot follows it, whether or not it was in it", async () => {
  const feed = feedOf({ initial: tokens(1500) });
  const watch = new Watch(feed);
  await watch.next();
  feed.publish(token("new"));
  feed.publish({ ...token(0), keepUntil: clocks.time + 2 * HOUR });
  const { ids } = await watch.ids();
  expect(ids).toEqual(expect.arrayContaining(["tnew", "t0", "t1499"]));
});

describe("a watcher that comes back", () => {
  test("gets what it missed, and no more", async () => {
    const feed = feedOf({ initial: tokens(3) });
    const { last } = await new Watch(feed).ids();
    expect(await new Watch(feed, last.position).ids()).toMatchObject({ ids: [], snapshots: 0 });
    feed.publish(token("a"));
    feed.publish(token("b"));
    const again = await new Watch(feed, last.position).ids();
    expect(again).toMatchObject({ ids: ["ta", "tb"], snapshots: 0 });
    const later = await new Watch(feed, again.last.position).ids();
    expect(later).toMatchObject({ ids: [], snapshots: 0 });
  });

  test.each([0, 1, 2])("gets all again where the log has lost one: %i", async (kept) => {
    const feed = feedOf({ logCapacity: kept, initial: tokens(1) });
    const { last } = await new Watch(feed).ids();
    for (const id of ["a", "b", "c", "d", "e"]) feed.publish(token(id));
    const again = await new Watch(feed, last.position).ids();
    expect(again).toMatchObject({ ids: ["t0", "ta", "tb", "tc", "td", "te"], snapshots: 1 });
  });

  test("gets all again with a position of another feed, or none at all", async () => {
    const feed = feedOf({ initial: tokens(1) });
    const other = (await new Watch(feedOf()).ids()).last.position;
    const own = (await new Watch(feed).ids()).last.position;
    for (const position of [
      other,
      "x",
      `${own}9`,
      `${own} `,
      own.replace(".0", ".-1"),
      "9".repeat(5000),
    ]) {
      expect(await new Watch(feed, position).ids()).toMatchObject({ ids: ["t0"], snapshots: 1 });
    }
  });

  test("a slow reader gets all again rather than a gap", async () => {
    const feed = feedOf({ logCapacity: 2 });
    const watch = new Watch(feed);
    await watch.ids();
    for (const id of ["a", "b", "c", "d", "e", "f"]) feed.publish(token(id));
    expect(await watch.ids()).toMatchObject({
      ids: ["ta", "tb", "tc", "td", "te", "tf"],
      snapshots: 1,
    });
  });
});

test("without news a response comes that says that there are none", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const watch = new Watch(feedOf());
  await watch.next();
  for (let times = 0; times < 3; times++) {
    let isThere = false;
    const waiting = watch.next().finally(() => {
      isThere = true;
    });
    await vi.advanceTimersByTimeAsync(1999);
    expect(isThere).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await waiting).toMatchObject({ revocations: [], current: true, snapshotBegin: false });
  }
});

test("the signal ends a watch, also one that waits", async () => {
  const feed = feedOf();
  const watch = new Watch(feed);
  await watch.next();
  const waiting = watch.next();
  watch.abort.abort();
  await expect(waiting).rejects.toThrow("the watch has ended");
  const never = new Watch(feed);
  never.abort.abort();
  await expect(never.next()).rejects.toThrow("the watch has ended");
});

test("a closed feed ends its watches, and still answers for calls under way", async () => {
  const feed = feedOf();
  const watch = new Watch(feed);
  await watch.next();
  const waiting = watch.next();
  feed.close();
  for (const next of [waiting, new Watch(feed).next()]) {
    await expect(next).rejects.toMatchObject({ code: "UNAVAILABLE" });
  }
  expect(feed.isRevoked(claims())).toBe(false);
  feed.publish({ sessionId: "s1", keepUntil: clocks.time + HOUR });
  expect(feed.isRevoked(claims())).toBe(true);
});
