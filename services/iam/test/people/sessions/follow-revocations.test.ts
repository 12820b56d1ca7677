import { type Revocation, RevocationFeed } from "svc-access/runtime";
import { expect, test } from "vitest";
import { ProviderDatabase } from "../../../src/ground/store/provider-database.ts";
import { RevocationFollower } from "../../../src/people/sessions/follow-revocations.ts";
import { Revocations } from "../../../src/people/sessions/revocations.ts";
import { stackDatabase } from "../../support/databases.ts";

const feedOf = (published: Revocation[]) => ({
  isFull: false,
  recover: async () => true,
  publish: (one: Revocation) => void published.push(one),
});

test("stored revocations are published, of this process and of others, each once", async () => {
  const { open } = await stackDatabase();
  const [here, there] = [open(), open()].map(
    (database) => new Revocations(new ProviderDatabase(database)),
  ) as [Revocations, Revocations];
  await there.revoke({ kind: "jti", value: "before" });
  const published: Revocation[] = [];
  const follower = new RevocationFollower(here, feedOf(published));
  expect(follower.isCurrent).toBe(false);
  await follower.look();
  expect(published).toMatchObject([{ tokenId: "before" }]);
  expect(follower.isCurrent).toBe(true);
  await here.revoke({ kind: "sid", value: "own" });
  await there.revoke({ kind: "subject", value: "alice", subjectType: "user" });
  await Promise.all([follower.look(), follower.look()]);
  expect(published.slice(1)).toMatchObject([
    { sessionId: "own" },
    { subject: { type: "user", id: "alice", issuedUntil: expect.any(Number) } },
  ]);
});

test("while the database fails, what is published is not all", async () => {
  const failing = { kind: "sqlite", kysely: {} } as never;
  const revocations = new Revocations(new ProviderDatabase(failing));
  const follower = new RevocationFollower(revocations, feedOf([]));
  await expect(follower.look()).rejects.toThrow();
  expect(follower.isCurrent).toBe(false);
});

test("a feed that was full serves again when some have expired, also those that it missed", async () => {
  const { open } = await stackDatabase();
  const clock = { now: 1_800_000_000_000, monotonic: 0 };
  const clocks = { now: () => clock.now, monotonic: () => clock.monotonic };
  const pass = (milliseconds: number) => {
    clock.now += milliseconds;
    clock.monotonic += milliseconds;
  };
  const revocations = new Revocations(new ProviderDatabase(open()), clocks.now);
  const feed = new RevocationFeed({ clocks, capacity: 2, isCurrent: () => follower.isCurrent });
  const follower = new RevocationFollower(revocations, feed, undefined, clocks.monotonic);
  const isRevoked = (sessionId: string) =>
    feed.isRevoked({ id: "t", sessionId, subject: "a", subjectType: "user", iat: 1, issuedAt: 1 });
  await revocations.revoke({ kind: "sid", value: "s1" }, { kind: "sid", value: "s2" });
  await follower.look();
  expect(isRevoked("s3")).toBe(false);
  pass(300_000);
  await revocations.revoke({ kind: "sid", value: "s3" });
  await expect(follower.look()).rejects.toThrow(RangeError);
  expect(() => isRevoked("s3")).toThrow("is full");
  await expect(follower.look()).rejects.toThrow(RangeError);
  // Not on each look: it reads all of them.
  pass(4000);
  await follower.look();
  expect(() => isRevoked("s4")).toThrow("is full");
  // The first two have expired by then.
  pass(200_000);
  await follower.look();
  expect([isRevoked("s3"), isRevoked("s4")]).toEqual([true, false]);
  await revocations.revoke({ kind: "sid", value: "s4" });
  await follower.look();
  expect(isRevoked("s4")).toBe(true);
});
