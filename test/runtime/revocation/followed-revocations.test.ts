import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { RevocableToken } from "../../../src/runtime/authn/jwt/revocation-list.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { createLogger } from "../../../src/runtime/logging/create-logger.ts";
import {
  FollowedRevocations,
  type FollowOptions,
} from "../../../src/runtime/revocation/followed-revocations.ts";
import { linesOf } from "../support/sample-call.ts";
import { DAY, HOUR, MINUTE, TestClocks } from "./clocks.ts";
import { type ResponseInit, type RevocationInit, ScriptedFeed } from "./scripted-feed.ts";

const token = (of: Partial<RevocableToken> = {}): RevocableToken => ({
  id: "t1",
  sessionId: "s1",
  subject: "alice",
  subjectType: "user",
  iat: 1000,
  issuedAt: 1000,
  ...of,
});

/** A follower, what it follows, and a clock; no wait takes any time. */
function follow(more: Partial<FollowOptions> = {}) {
  const clocks = new TestClocks();
  const feed = new ScriptedFeed(clocks.now);
  const { destination, parsed } = linesOf();
  const waits: number[] = [];
  const followed = new FollowedRevocations({
    connect: feed.connect,
    onLoss: "refuse",
    maxEntries: 1000,
    logger: createLogger({ level: "debug", destination }),
    clocks,
    wait: (milliseconds) => {
      waits.push(milliseconds);
      return new Promise((resolve) => setImmediate(resolve));
    },
    ...more,
  });
  onTestFinished(() => followed.close());
  const session = (id: string, keep = HOUR): RevocationInit => ({
    revoked: { case: "sessionId", value: id },
    keepUntil: timestampFromMs(clocks.time + keep),
  });
  return { clocks, feed, followed, waits, session, log: parsed };
}

const unknown = { code: "UNAVAILABLE" };

/** A follower that knows all. */
async function following(more: Partial<FollowOptions> = {}) {
  const world = follow(more);
  const connection = await world.feed.connection(0);
  await connection.snapshot([world.session("s0")]);
  expect(world.followed.state).toBe("live");
  return { ...world, connection };
}

test("a revocation counts as soon as it is received, without a wait", async () => {
  const { connection, followed, session, waits } = await following();
  const before = waits.length;
  expect(followed.isRevoked(token())).toBe(false);
  await connection.send({ revocations: [session("s1")], position: "a.8", current: true });
  expect(followed.isRevoked(token())).toBe(true);
  expect(waits.length).toBe(before);
});

describe("before the first snapshot is complete", () => {
  test("tokens are refused, and the service is not ready", async () => {
    const { feed, followed, session } = follow();
    const connection = await feed.connection(0);
    expect(connection.position).toBe("");
    const expectUnknown = () => {
      expect(() => followed.isRevoked(token())).toThrow(expect.objectContaining(unknown));
      expect(followed.readiness()).toBe("they were not received yet, so tokens are refused");
    };
    expectUnknown();
    await connection.send({ snapshotBegin: true, revocations: [session("s0")] });
    expectUnknown();
    expect(followed.isRevoked(token({ sessionId: "s0" }))).toBe(true);
    await connection.send({ revocations: [session("s2")] });
    expectUnknown();
    await connection.send({ position: "a.7", current: true });
    expect(followed.isRevoked(token())).toBe(false);
    expect(followed.readiness()).toBeUndefined();
    expect(followed.size).toBe(2);
  });

  test("a server that says that nothing is missing, and has sent nothing, is not believed", async () => {
    const { feed, followed, log } = follow();
    await (await feed.connection(0)).send({ position: "a.7", current: true });
    expect(followed.state).toBe("starting");
    expect((await feed.connection(1)).position).toBe("");
    expect(log()).toMatchObject([{ level: "debug", reason: "it sent no snapshot" }]);
  });

  test("after 10 seconds the log says so, and it is not ready", async () => {
    const { clocks, followed, log } = follow();
    clocks.pass(9999);
    expect(followed.state).toBe("starting");
    clocks.pass(1);
    expect(followed.state).toBe("lost");
    expect(followed.readiness()).toBe("nothing was received for 10 seconds, so tokens are refused");
    expect(log()).toMatchObject([{ level: "error", reason: "no response yet" }]);
  });
});

describe("a server that refuses this service", () => {
  test.each([
    ["UNAUTHORIZED", "IAM does not accept the internal token of this service", /token_file here/],
    ["FORBIDDEN", "IAM does not send revocations to this service", /for this service$/],
    ["UNIMPLEMENTED", "the server that is followed has no revocations", /endpoint must be/],
  ] as const)("is named, and logged once: %s", async (code, reason, fix) => {
    const { clocks, feed, followed, log } = follow();
    for (const number of [0, 1]) {
      const connection = await feed.connection(number);
      await connection.fail(new ServiceError(code, "what the server says"));
    }
    await feed.connection(2);
    expect(followed.readiness()).toBe(`${reason}, so tokens are refused`);
    const errors = log().filter(({ level }) => level === "error");
    expect(errors).toMatchObject([{ message: expect.stringMatching(fix) }]);
    clocks.pass(10_000);
    expect(followed.readiness()).toBe(`${reason}, so tokens are refused`);
  });

  test("is no longer named once it fails otherwise, or serves", async () => {
    const { feed, followed } = follow();
    const refused = new ServiceError("UNAUTHORIZED", "wrong internal token");
    await (await feed.connection(0)).fail(refused);
    await (await feed.connection(1)).fail(new ServiceError("UNAVAILABLE", "gone"));
    const next = await feed.connection(2);
    expect(followed.readiness()).toBe("they were not received yet, so tokens are refused");
    await next.fail(refused);
    await (await feed.connection(3)).snapshot();
    expect(followed.readiness()).toBeUndefined();
  });

  test("after it had served leaves the service ready, and is named in the details", async () => {
    const { clocks, connection, feed, followed } = await following();
    await connection.fail(new ServiceError("UNAUTHORIZED", "wrong internal token"));
    await feed.connection(1);
    expect(followed.readiness()).toBeUndefined();
    clocks.pass(10_000);
    expect(followed.readiness()).toEqual({
      detail: "IAM does not accept the internal token of this service, so tokens are refused",
    });
  });
});

describe("a token is refused as soon as it is revoked, by", () => {
  test.each<[string, RevocationInit["revoked"] & {}]>([
    ["its session", { case: "sessionId", value: "s1" }],
    ["its id", { case: "tokenId", value: "t1" }],
    [
      "its subject and its time",
      {
        case: "subject",
        value: {
          subjectId: "alice",
          subjectType: "user",
          issuedUntil: { seconds: 0n, nanos: 999_000_001 },
        },
      },
    ],
  ])("%s", async (_, revoked) => {
    const { clocks, connection, followed } = await following();
    expect(followed.isRevoked(token())).toBe(false);
    const keepUntil = timestampFromMs(clocks.time + HOUR);
    await connection.send({
      position: "a.1",
      current: true,
      revocations: [{ revoked, keepUntil }],
    });
    expect(followed.isRevoked(token())).toBe(true);
    const other = token({ id: "t2", sessionId: undefined, iat: 1001 });
    expect(followed.isRevoked(other)).toBe(false);
  });
});

describe("10 seconds without news", () => {
  test("tokens are refused, those known to be revoked as such, and the service stays ready", async () => {
    const { clocks, connection, followed, log } = await following();
    clocks.pass(9999);
    expect(followed.isRevoked(token())).toBe(false);
    clocks.pass(1);
    expect(() => followed.isRevoked(token())).toThrow(expect.objectContaining(unknown));
    expect(followed.isRevoked(token({ sessionId: "s0" }))).toBe(true);
    expect(followed.readiness()).toEqual({
      detail: "nothing was received for 10 seconds, so tokens are refused",
    });
    expect(log().at(-1)).toMatchObject({
      level: "error",
      message:
        "the revocations of tokens are not known: nothing was received for 10 seconds; calls with a token are refused",
    });
    await connection.send({ position: "a.0", current: true });
    expect(followed.isRevoked(token())).toBe(false);
    expect(followed.readiness()).toBeUndefined();
    expect(log().at(-1)).toMatchObject({ level: "info", revocations: 1 });
  });

  test("news are those by which nothing is missing, not others", async () => {
    const { clocks, connection, followed } = await following();
    for (let seconds = 2; seconds <= 10; seconds += 2) {
      clocks.pass(2000);
      await connection.send({ position: "a.0" });
    }
    expect(followed.state).toBe("lost");
    await connection.send({ position: "a.0", current: true });
    expect(followed.state).toBe("live");
  });

  test("with on_loss serve tokens are accepted, and readiness says so", async () => {
    const { clocks, feed, followed, log } = follow({ onLoss: "serve" });
    expect(followed.isRevoked(token())).toBe(false);
    expect(followed.readiness()).toEqual({
      detail: "they were not received yet; on_loss is serve",
    });
    await (await feed.connection(0)).snapshot();
    clocks.pass(10_000);
    expect(followed.isRevoked(token())).toBe(false);
    expect(followed.readiness()).toEqual({
      detail: "nothing was received for 10 seconds; on_loss is serve",
    });
    expect(log().at(-1)).toMatchObject({ level: "error" });
  });

  test.each([HOUR, -HOUR, 30 * DAY, -30 * DAY])(
    "they are those that pass, not those of a clock that is set by %d ms",
    async (jump) => {
      const { clocks, connection, followed } = await following();
      clocks.jump(jump);
      expect(followed.state).toBe("apart");
      await connection.send({ position: "a.0", current: true });
      expect(followed.isRevoked(token())).toBe(false);
      clocks.pass(2 * MINUTE);
      expect(followed.state).toBe("lost");
      await connection.send({ position: "a.0", current: true });
      expect(followed.state).toBe("live");
      expect(followed.isRevoked(token({ sessionId: "s0" }))).toBe(true);
    },
  );

  test.each([
    ["ahead of", HOUR],
    ["behind", -HOUR],
  ])(
    "a clock that is an hour %s that of IAM: tokens are refused at once, until it is set",
    async (side, jump) => {
      const { clocks, followed, log } = await following();
      clocks.jump(jump > 0 ? 2 * MINUTE : -2 * MINUTE);
      expect(followed.isRevoked(token())).toBe(false);
      clocks.jump(jump);
      expect(() => followed.isRevoked(token())).toThrow(expect.objectContaining(unknown));
      expect(followed.isRevoked(token({ sessionId: "s0" }))).toBe(true);
      const problem = `the clock of this process is 3720 seconds ${side} that of IAM`;
      expect(followed.readiness()).toBe(`${problem}, so tokens are refused`);
      expect(log().at(-1)).toMatchObject({
        level: "error",
        message: `${problem}; calls with a token are refused`,
      });
      clocks.jump(-jump);
      expect(followed.isRevoked(token())).toBe(false);
      expect(followed.readiness()).toBeUndefined();
    },
  );

  test("a call finds out by itself: a process that stood still is behind", async () => {
    const { clocks, followed } = await following();
    clocks.passed += HOUR;
    expect(() => followed.isRevoked(token())).toThrow(expect.objectContaining(unknown));
  });
});

describe("after a break", () => {
  test("the next call continues from the last position", async () => {
    const { feed, connection, followed, session } = await following();
    await connection.send({ position: "a.1", current: true, revocations: [session("s1")] });
    await connection.fail(new Error("reset"));
    const next = await feed.connection(1);
    expect(next.position).toBe("a.1");
    expect(connection.isClosed).toBe(true);
    expect(followed.state).toBe("live");
    await next.send({ position: "a.2", current: true, revocations: [session("s2")] });
    for (const sessionId of ["s0", "s1", "s2"]) {
      expect(followed.isRevoked(token({ sessionId }))).toBe(true);
    }
  });

  test("a snapshot that was not complete is asked for again", async () => {
    const { feed, session } = follow();
    const connection = await feed.connection(0);
    await connection.send({ snapshotBegin: true, revocations: [session("s0")] });
    await connection.end();
    expect((await feed.connection(1)).position).toBe("");
  });

  test("a snapshot that begins ends the position, also one that was asked for by it", async () => {
    const { feed, connection, followed } = await following();
    await connection.end();
    const next = await feed.connection(1);
    expect(next.position).toBe("a.0");
    await next.send({ snapshotBegin: true });
    await next.end();
    expect((await feed.connection(2)).position).toBe("");
    expect(followed.state).toBe("live");
  });

  test("a feed that begins anew, with smaller positions, takes back nothing", async () => {
    const { feed, connection, followed, session } = await following();
    await connection.send({ position: "a.99", current: true });
    await connection.end();
    const next = await feed.connection(1);
    expect(next.position).toBe("a.99");
    await next.snapshot([session("s1")], "b.0");
    await next.end();
    expect((await feed.connection(2)).position).toBe("b.0");
    for (const sessionId of ["s0", "s1"]) {
      expect(followed.isRevoked(token({ sessionId }))).toBe(true);
    }
  });

  test("positions and revocations that come again change nothing", async () => {
    const { clocks, connection, followed, session } = await following();
    const early = session("s0", MINUTE);
    const late = session("s0", 2 * HOUR);
    for (const revocations of [[late], [early], [late, early], [early]]) {
      await connection.send({ position: "a.0", current: true, revocations });
    }
    expect(followed.size).toBe(1);
    clocks.pass(HOUR + MINUTE);
    await connection.send({ position: "a.0", current: true });
    expect(followed.isRevoked(token({ sessionId: "s0" }))).toBe(true);
  });

  test("the first tries follow soon, later ones after 2 seconds at most, by chance", async () => {
    const { feed, waits } = follow();
    for (let number = 0; number < 12; number++) {
      const connection = await feed.connection(number);
      // It has sent all, which does not cause another call at once.
      await connection.snapshot();
      await connection.end();
    }
    await feed.connection(12);
    const most = [200, 400, 800, 1600, ...new Array(8).fill(2000)];
    expect(waits).toHaveLength(12);
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual((most[index] as number) / 2);
      expect(wait).toBeLessThanOrEqual(most[index] as number);
    }
    expect(new Set(waits).size).toBeGreaterThan(6);
  });

  test("a connection that held is tried again soon", async () => {
    const { clocks, feed, waits } = follow();
    for (let number = 0; number < 8; number++) await (await feed.connection(number)).end();
    const held = await feed.connection(8);
    await held.snapshot();
    clocks.pass(5001);
    await held.end();
    await feed.connection(9);
    expect(waits.at(-1)).toBeLessThanOrEqual(100);
  });

  test("an address that cannot be called is tried again, and the log says why", async () => {
    const { clocks, feed, followed, waits, log } = await following();
    feed.failure = new Error("ca_file cannot be read");
    await feed.connections[0]?.end();
    while (waits.length < 2) await new Promise((resolve) => setImmediate(resolve));
    clocks.pass(10_000);
    expect(followed.state).toBe("lost");
    feed.failure = undefined;
    const { reason } = log().find(({ level }) => level === "error") as { reason: string };
    expect(reason).toBe("ca_file cannot be read");
    await (await feed.connection(1)).send({ position: "a.0", current: true });
    expect(followed.state).toBe("live");
  });

  test("a connection without news for 5 seconds is given up", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { feed, connection, log } = await following();
    vi.advanceTimersByTime(4999);
    await connection.send({ position: "a.1", current: true });
    vi.advanceTimersByTime(4998);
    await connection.send({ position: "a.1" });
    vi.advanceTimersByTime(1);
    expect(feed.connections).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect((await feed.connection(1)).position).toBe("a.1");
    expect(log().at(-1)).toMatchObject({ reason: "the server had no news for 5 seconds" });
  });
});

describe("more than max_entries", () => {
  test.each(["refuse", "serve"] as const)(
    "tokens are refused with on_loss %s, until there are fewer",
    async (onLoss) => {
      const { clocks, feed, connection, followed, session, waits, log } = await following({
        maxEntries: 2,
        onLoss,
      });
      const two = [session("s1", 2 * HOUR), session("s2", 2 * HOUR)];
      await connection.send({ position: "a.2", current: true, revocations: two });
      expect(() => followed.isRevoked(token({ sessionId: "s3" }))).toThrow(
        expect.objectContaining(unknown),
      );
      expect(followed.isRevoked(token({ sessionId: "s1" }))).toBe(true);
      expect(followed.state).toBe("full");
      expect(followed.readiness()).toEqual({
        detail: "there are more than max_entries (2), so tokens are refused",
      });
      expect(log()).toContainEqual(expect.objectContaining({ level: "error", max_entries: 2 }));
      const again = await feed.connection(1);
      expect(again.position).toBe("");
      expect(waits.at(-1)).toBeGreaterThanOrEqual(5000);
      await again.send({ snapshotBegin: true, revocations: [session("s0")] });
      expect(followed.state).toBe("full");
      await again.send({ revocations: two });
      expect(followed.state).toBe("full");
      clocks.pass(HOUR + MINUTE);
      const last = await feed.connection(2);
      await last.snapshot(two, "a.2");
      expect(followed.state).toBe("live");
      expect(followed.isRevoked(token({ sessionId: "s3" }))).toBe(false);
      expect(followed.isRevoked(token({ sessionId: "s2" }))).toBe(true);
      expect(followed.size).toBe(2);
    },
  );

  test("none is dropped early by a clock that jumps ahead, its own or that of the feed", async () => {
    const { clocks, connection, followed, session } = await following({ maxEntries: 1 });
    clocks.jump(30 * DAY);
    clocks.pass(2 * MINUTE);
    await connection.send({ position: "a.0", current: true });
    expect(followed.isRevoked(token({ sessionId: "s0" }))).toBe(true);
    await connection.send({ position: "a.1", current: true, revocations: [session("s1")] });
    expect(followed.state).toBe("full");
  });
});

describe("a response that cannot be used ends the connection, and none of it counts", () => {
  const at = timestampFromMs(1_800_000_000_000);
  const until = timestampFromMs(1_800_003_600_000);
  const subject = (value: object): RevocationInit => ({
    revoked: {
      case: "subject",
      value: { subjectId: "alice", subjectType: "user", issuedUntil: at, ...value },
    },
    keepUntil: until,
  });
  const session = (value: string): RevocationInit => ({
    revoked: { case: "sessionId", value },
    keepUntil: until,
  });
  const REFUSED: Record<string, [ResponseInit, reason: string]> = {
    "no time": [{ time: undefined as never }, "it sent no valid time"],
    "a time before 1970": [{ time: { seconds: -1n } }, "it sent no valid time"],
    "a time after 9999": [{ time: { seconds: 253_402_300_800n } }, "it sent no valid time"],
    "a time of no kind": [
      { time: { seconds: 9_223_372_036_854_775_807n, nanos: -1 } },
      "it sent no valid time",
    ],
    "more than a second in nanoseconds": [
      { time: { seconds: 1n, nanos: 1_000_000_000 } },
      "it sent no valid time",
    ],
    "nothing missing, and no position": [{ position: "" }, "it sent no position"],
    "a position that is too long": [
      { position: "p".repeat(1025) },
      "it sent a position that is too long",
    ],
    "1001 revocations": [
      { revocations: new Array(1001).fill(session("x")) },
      "it sent too many at once",
    ],
    "a revocation of a kind that is not known": [
      { revocations: [{ keepUntil: until }] },
      "it sent a kind of revocation that this version does not know; update it",
    ],
    "a subject type that is not known": [
      { revocations: [subject({ subjectType: "device" })] },
      "it sent a kind of revocation that this version does not know; update it",
    ],
    "a subject without a time": [
      { revocations: [subject({ issuedUntil: undefined })] },
      "it sent a subject without a valid time",
    ],
    "a subject without an id": [
      { revocations: [subject({ subjectId: "" })] },
      "it sent a revocation whose id is empty or too long",
    ],
    "an empty session": [
      { revocations: [session("")] },
      "it sent a revocation whose id is empty or too long",
    ],
    "a session that is too long": [
      { revocations: [session("s".repeat(513))] },
      "it sent a revocation whose id is empty or too long",
    ],
    "a revocation without an end": [
      { revocations: [{ revoked: { case: "tokenId", value: "t" } }] },
      "it sent a revocation without a valid end",
    ],
  };

  test.each(Object.entries(REFUSED))("%s", async (_, [response, reason]) => {
    const { connection, feed, followed, log } = await following();
    const good = session("s9");
    const revocations = [good, ...(response.revocations ?? [])];
    await connection.send({ position: "a.9", current: true, time: at, ...response, revocations });
    expect((await feed.connection(1)).position).toBe("a.0");
    expect(log().at(-1)).toMatchObject({ level: "debug", reason });
    expect(followed.isRevoked(token({ sessionId: "s9" }))).toBe(false);
    expect(followed.size).toBe(1);
  });
});

test("closing ends the connection, and no other one is made", async () => {
  let isOver = false;
  const { feed, connection, followed, waits } = await following({
    onClose: () => {
      isOver = true;
    },
  });
  await followed.close();
  expect(connection.isClosed).toBe(true);
  expect(isOver).toBe(true);
  expect(waits).toEqual([]);
  expect(feed.connections).toHaveLength(1);
});
