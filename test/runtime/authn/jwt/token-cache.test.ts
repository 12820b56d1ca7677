import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MemoryRevocationList } from "../../../../src/runtime/authn/jwt/revocation-list.ts";
import { TokenCache } from "../../../../src/runtime/authn/jwt/verified-tokens.ts";
import { JwtWorld } from "./jwt-world.ts";

const SECOND = 1000;
let time = 0;
const revocations = () => new MemoryRevocationList(3, () => time);

describe("a token that was verified before", () => {
  let world: JwtWorld;
  let list: MemoryRevocationList;
  beforeEach(async () => {
    list = revocations();
    world = await JwtWorld.create({}, { revocations: list });
    time = world.time;
  });
  afterEach(() => world.close());

  test("is accepted without waiting", async () => {
    const token = world.token();
    const first = world.run(world.call(token));
    expect(first).toBeInstanceOf(Promise);
    await first;
    const call = world.call(token);
    expect(world.run(call)).toBeUndefined();
    expect(call.principal?.subjectId).toBe("alice");
    expect(world.reported.filter((one) => one.startsWith("cache jwt"))).toEqual([
      "cache jwt miss",
      "cache jwt hit",
    ]);
  });

  test("does not stand for another one with the same signature", async () => {
    const token = world.token();
    const [header = "", , signature = ""] = token.split(".");
    expect(await world.outcome(token)).toBe("passed");
    const [, payload = ""] = world.token({ sub: "mallory" }).split(".");
    const forged = `${header}.${payload}.${signature}`;
    expect(await world.outcome(forged)).toContain("its signature is wrong");
    expect(await world.outcome(token)).toBe("passed");
  });

  test("26 is refused after it has expired [AUTHN-6]", async () => {
    const token = world.token({ exp: world.seconds + 30 });
    expect(await world.outcome(token)).toBe("passed");
    world.time += 89 * SECOND;
    expect(await world.outcome(token)).toBe("passed");
    world.time += SECOND;
    expect(await world.outcome(token)).toContain("it has expired");
  });

  test("is verified again after its cache time [AUTHN-6]", async () => {
    const token = world.token();
    await world.outcome(token);
    world.time += 300 * SECOND;
    expect(world.run(world.call(token))).toBeInstanceOf(Promise);
  });

  test("26 is refused after it was revoked by its id", async () => {
    const token = world.token({ jti: "t1" });
    expect(await world.outcome(token)).toBe("passed");
    list.revokeToken("t1", world.time + 3600 * SECOND);
    expect(await world.outcome(token)).toBe("401 UNAUTHORIZED: invalid token: it was revoked");
    expect(await world.outcome(world.token({ jti: "t2" }))).toBe("passed");
  });

  test("26 is refused after its subject was revoked; a later token is accepted", async () => {
    const token = world.token();
    expect(await world.outcome(token)).toBe("passed");
    list.revokeSubject("alice", world.time + 3600 * SECOND);
    expect(await world.outcome(token)).toContain("it was revoked");
    expect(await world.outcome(world.token({ sub: "bob" }))).toBe("passed");
    world.time += 61 * SECOND;
    expect(await world.outcome(world.token({ iat: world.seconds }))).toBe("passed");
  });

  test.each([
    // A provider whose clock is ahead puts a later time into tokens that it issued before the revocation.
    ["60 s ahead, seen before the revocation", 60, "revoked"],
    ["59.5 s ahead", 59.5, "revoked"],
    ["at the same time", 0, "revoked"],
    ["60 s behind", -60, "revoked"],
    ["later than any earlier token", 60.5, "passed"],
  ])(
    "the clock skew of the provider does not make a revoked subject's token valid: %s",
    async (_, ahead, outcome) => {
      const revoked = world.seconds;
      const token = world.token({ iat: revoked + ahead });
      if (ahead <= 60) expect(await world.outcome(token)).toBe("passed");
      list.revokeSubject("alice", world.time + 3600 * SECOND);
      for (const later of [0, 30, 61, 200]) {
        world.time = (revoked + later) * SECOND;
        if (later + 60 < ahead) continue;
        const found = await world.outcome(token);
        if (outcome === "revoked") expect(found, `${later} s later`).toContain("it was revoked");
        else if (later > 0) expect(found, `${later} s later`).toBe("passed");
      }
    },
  );

  test("a subject that is revoked again after the clock is set back stays revoked", async () => {
    const token = world.token({ iat: world.seconds });
    list.revokeSubject("alice", world.time + 3600 * SECOND);
    world.time -= 3000 * SECOND;
    list.revokeSubject("alice", world.time + 3600 * SECOND);
    world.time += 3001 * SECOND;
    expect(await world.outcome(token)).toContain("it was revoked");
  });

  test("26 is not accepted by a service of another issuer with the same keys", async () => {
    const token = world.token();
    expect(await world.outcome(token)).toBe("passed");
    const other = await JwtWorld.create();
    expect(await other.outcome(token)).toContain("its issuer is not accepted");
    await other.close();
  });
});

test("of more tokens than digests are kept, each is found, and its digest is computed once for its next calls", async () => {
  const world = await JwtWorld.create();
  const computed = vi.spyOn(crypto, "hash");
  // The named import of node:crypto is the spy, too.
  syncBuiltinESMExports();
  try {
    const tokens = Array.from({ length: 2_001 }, (_, index) => world.token({ jti: `t${index}` }));
    for (const token of tokens) expect(await world.outcome(token)).toBe("passed");
    computed.mockClear();
    for (const token of tokens) {
      for (let calls = 0; calls < 3; calls++) expect(world.run(world.call(token))).toBeUndefined();
    }
    const of = (token: string) => computed.mock.calls.filter(([, data]) => data === token).length;
    // The last one replaced the first one, so that one is computed again; none is computed twice.
    expect(of(tokens[0] as string)).toBe(1);
    expect(computed.mock.calls.length).toBeLessThanOrEqual(tokens.length);
  } finally {
    computed.mockRestore();
    syncBuiltinESMExports();
    await world.close();
  }
}, 60_000);

describe("the revocation list", () => {
  test("refuses entries beyond its capacity instead of forgetting others", () => {
    time = 1000;
    const list = revocations();
    list.revokeToken("a", 2000);
    list.revokeToken("b", 3000);
    list.revokeSubject("alice", 3000);
    expect(() => list.revokeToken("c", 3000)).toThrow("full");
    list.revokeToken("a", 2500);
    expect(list.isRevoked({ id: "a", subject: "x", issuedAt: 0 })).toBe(true);
    time = 2600;
    list.revokeToken("c", 3000);
    expect(list.isRevoked({ id: "a", subject: "x", issuedAt: 0 })).toBe(false);
    expect(list.isRevoked({ id: undefined, subject: "alice", issuedAt: 1000 })).toBe(true);
    expect(list.isRevoked({ id: undefined, subject: "alice", issuedAt: 1001 })).toBe(false);
  });

  test("refuses subjects as well, and reuses the room of expired entries", () => {
    time = 1000;
    const list = revocations();
    list.revokeSubject("alice", 2000);
    list.revokeSubject("bob", 3000);
    list.revokeSubject("carol", 3000);
    expect(() => list.revokeSubject("dave", 3000)).toThrow("full");
    expect(() => list.revokeToken("a", 3000)).toThrow("full");
    time = 1999;
    expect(() => list.revokeSubject("dave", 3000)).toThrow("full");
    time = 2000;
    list.revokeSubject("dave", 3000);
    expect(list.isRevoked({ id: undefined, subject: "alice", issuedAt: 1 })).toBe(false);
    expect(list.isRevoked({ id: undefined, subject: "bob", issuedAt: 1 })).toBe(true);
  });

  test("keeps each entry until the latest requested time", () => {
    time = 1000;
    const list = revocations();
    list.revokeToken("a", 3000);
    list.revokeToken("a", 2000);
    list.revokeSubject("alice", 3000);
    list.revokeSubject("alice", 2000);
    list.revokeToken("b", 2000);
    time = 2000;
    list.revokeToken("c", 3000);
    expect(list.isRevoked({ id: "a", subject: "x", issuedAt: 1 })).toBe(true);
    expect(list.isRevoked({ id: "b", subject: "x", issuedAt: 1 })).toBe(false);
    expect(list.isRevoked({ id: "z", subject: "alice", issuedAt: 1 })).toBe(true);
  });
});

describe("the cache", () => {
  test("does not count a peek as a use", () => {
    const cache = new TokenCache<number>(2);
    cache.set("a", 1);
    cache.set("b", 2);
    expect([cache.peek("a"), cache.peek("z")]).toEqual([1, undefined]);
    cache.set("c", 3);
    expect([cache.peek("a"), cache.peek("b"), cache.size]).toEqual([undefined, 2, 2]);
  });

  test("keeps an entry that is used while many others come", () => {
    const cache = new TokenCache<number>(10);
    cache.set("used", 0);
    for (let other = 1; other <= 100; other++) {
      cache.set(`other ${other}`, other);
      expect(cache.get("used")).toBe(0);
    }
    expect([cache.size, cache.peek("other 100"), cache.peek("other 1")]).toEqual([
      10,
      100,
      undefined,
    ]);
  });

  test("evicts the least recently used entry", () => {
    const cache = new TokenCache<number>(2);
    cache.set("a", 1);
    cache.set("b", 2);
    cache.get("a");
    cache.set("c", 3);
    expect([cache.get("a"), cache.get("b"), cache.get("c"), cache.size]).toEqual([
      1,
      undefined,
      3,
      2,
    ]);
  });
});
