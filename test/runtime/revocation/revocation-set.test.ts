import { describe, expect, test } from "vitest";
import type { RevocableToken } from "../../../src/runtime/authn/jwt/revocation-list.ts";
import type { Revocation } from "../../../src/runtime/revocation/revocation.ts";
import { RevocationSet } from "../../../src/runtime/revocation/revocation-set.ts";

const token = (of: Partial<RevocableToken> = {}): RevocableToken => ({
  id: "t1",
  sessionId: "s1",
  subject: "alice",
  subjectType: "user",
  iat: 1000,
  issuedAt: 940,
  ...of,
});
const subject = (
  type: "user" | "service_account",
  id: string,
  issuedUntil: number,
): Revocation => ({
  subject: { type, id, issuedUntil },
  keepUntil: 5000,
});

function setOf(...revocations: readonly Revocation[]): RevocationSet {
  const set = new RevocationSet(100);
  for (const revocation of revocations) set.add(revocation);
  return set;
}

describe("a token is not revoked by", () => {
  test.each<[string, Revocation, Partial<RevocableToken>]>([
    ["a session of its id", { sessionId: "t1", keepUntil: 5000 }, {}],
    ["a token of its session's id", { tokenId: "s1", keepUntil: 5000 }, {}],
    ["another session", { sessionId: "s2", keepUntil: 5000 }, {}],
    [
      "the session undefined, without one",
      { sessionId: "undefined", keepUntil: 5000 },
      { sessionId: undefined },
    ],
    [
      "the token undefined, without an id",
      { tokenId: "undefined", keepUntil: 5000 },
      { id: undefined },
    ],
    ["a subject of another type", subject("service_account", "alice", 9000), {}],
    ["another subject", subject("user", "bob", 9000), {}],
    ["a subject until it was issued", subject("user", "alice", 999), {}],
    ["the clock skew of this service", subject("user", "alice", 950), {}],
    [
      "a subject whose name is made of both",
      subject("user", "x", 9000),
      { subject: "user x", subjectType: "" },
    ],
  ])("%s", (_, revocation, of) => {
    expect(setOf(revocation).isRevoked(token(of))).toBe(false);
  });
});

describe("a token is revoked by", () => {
  test.each<[string, Revocation]>([
    ["its session", { sessionId: "s1", keepUntil: 5000 }],
    ["its id", { tokenId: "t1", keepUntil: 5000 }],
    ["its subject, in the very second", subject("user", "alice", 1000)],
  ])("%s", (_, revocation) => {
    expect(setOf(revocation).isRevoked(token())).toBe(true);
  });
});

test("a second revocation only adds to the first, in either order", () => {
  const early = subject("user", "alice", 1000);
  const late: Revocation = { ...subject("user", "alice", 2000), keepUntil: 3000 };
  for (const both of [
    [early, late],
    [late, early],
  ] as const) {
    const set = setOf(...both);
    expect(set.size).toBe(1);
    expect(set.isRevoked(token({ iat: 2000 }))).toBe(true);
    set.forget(4999);
    expect(set.size).toBe(1);
    expect(both.map((one) => set.add(one))).toEqual(["nothing", "nothing"]);
  }
  const set = setOf({ tokenId: "t1", keepUntil: 10 });
  expect(set.add({ tokenId: "t1", keepUntil: 20 })).toBe("added");
  expect(set.add({ tokenId: "t1", keepUntil: 10 })).toBe("nothing");
  set.forget(19);
  expect(set.isRevoked(token())).toBe(true);
  set.forget(20);
  expect(set.isRevoked(token())).toBe(false);
});

test("a full set takes none, drops none, and still knows more of those that it has", () => {
  const set = new RevocationSet(3);
  const three: Revocation[] = [
    { sessionId: "s1", keepUntil: 10 },
    { tokenId: "t1", keepUntil: 10 },
    subject("user", "alice", 1),
  ];
  expect(three.map((one) => set.add(one))).toEqual(["added", "added", "added"]);
  expect(set.add({ sessionId: "s2", keepUntil: 10 })).toBe("full");
  expect(set.add({ tokenId: "t2", keepUntil: 10 })).toBe("full");
  expect(set.add(subject("user", "bob", 1))).toBe("full");
  expect(set.add({ sessionId: "s1", keepUntil: 20 })).toBe("added");
  expect([...set]).toEqual([{ sessionId: "s1", keepUntil: 20 }, three[1], three[2]]);
  set.forget(10);
  expect(set.add({ tokenId: "t2", keepUntil: 10 })).toBe("added");
});
