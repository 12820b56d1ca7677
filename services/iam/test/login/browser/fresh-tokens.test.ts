import { randomBytes } from "node:crypto";
import { ServiceError, type TokenVerifier } from "svc-access/runtime";
import { beforeEach, describe, expect, test } from "vitest";
import { EncryptionKeys } from "../../../src/ground/secrets/encryption-keys.ts";
import { SecretBox } from "../../../src/ground/secrets/secret-box.ts";
import { BrowserSessions } from "../../../src/login/browser/browser-sessions.ts";
import { FreshTokens } from "../../../src/login/browser/fresh-tokens.ts";
import type { Tokens } from "../../../src/provider/identity-provider.ts";
import { stackDatabase } from "../../support/databases.ts";

const START = Date.parse("2026-05-05T12:00:00Z");
const MINUTE = 60_000;

/** An unsigned token of five minutes. */
function accessToken(issued: number): string {
  const claims = { sub: "alice", iat: issued / 1000, exp: (issued + 5 * MINUTE) / 1000 };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part(claims)}.`;
}

let now: number;
let refreshes: string[];
let revoked: string[];
/** What the provider does with a refresh token. */
let answer: (refreshToken: string) => Promise<Partial<Tokens>>;
let isExpired: boolean;

beforeEach(() => {
  now = START;
  refreshes = [];
  revoked = [];
  isExpired = false;
  answer = async (used) => ({ accessToken: accessToken(now), refreshToken: `${used}+` });
});

const verifier: TokenVerifier = {
  async verify() {
    return isExpired ? { active: false, reason: "expired" } : ({ active: true } as never);
  },
};

/** Two replicas with a session of alice, whose tokens are near their end. */
async function twoReplicas(refreshToken = "r") {
  const database = await stackDatabase();
  const box = new SecretBox(EncryptionKeys.parse(randomBytes(32).toString("base64")));
  const times = { idleMs: 600 * MINUTE, absoluteMs: 600 * MINUTE };
  const provider = {
    async refresh(used: string) {
      refreshes.push(used);
      return { refreshToken: "", idToken: "", scopes: [], ...(await answer(used)) } as Tokens;
    },
    async revoke(token: string) {
      revoked.push(token);
    },
  };
  const replica = () => {
    const sessions = new BrowserSessions(database.open().as(), box, times, () => now);
    const call = {
      clientAddress: "",
      audit: { record: async () => undefined },
      signal: new AbortController().signal,
    };
    return {
      sessions,
      fresh: new FreshTokens({ provider, sessions, verifier, call, now: () => now }),
    };
  };
  const [one, other] = [replica(), replica()];
  const tokens = { accessToken: accessToken(now), refreshToken, idToken: "i" };
  const subject = { subjectType: "user", subjectId: "alice" };
  const refreshTime = now + 4 * MINUTE;
  const begun = await one.sessions.begin({ state: "s", subject, tokens, refreshTime });
  const read = async () => {
    const session = await one.sessions.use(begun?.token ?? "");
    if (session === undefined) throw new Error("the session is over");
    return session;
  };
  const session = await read();
  now += 4 * MINUTE;
  return { one, other, read, session };
}

describe("the provider does not refresh", () => {
  test.each<[string, () => ServiceError]>([
    ["refuses the refresh token", () => new ServiceError("INVALID_ARGUMENT", "invalid_grant")],
    ["refuses the caller", () => new ServiceError("UNAUTHORIZED", "no")],
  ])("since it %s: the session is over", async (_why, error) => {
    const { one, read, session } = await twoReplicas();
    answer = () => Promise.reject(error());
    await expect(one.fresh.of(session)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    await expect(read()).rejects.toThrow("the session is over");
  });

  test("since there is no refresh token: the session is over", async () => {
    const { one, read, session } = await twoReplicas("");
    await expect(one.fresh.of(session)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    await expect(read()).rejects.toThrow("the session is over");
    expect(refreshes).toEqual([]);
  });

  test("but gives something that is not a JWT: the session is over", async () => {
    const { one, session } = await twoReplicas();
    answer = async () => ({ accessToken: "opaque" });
    await expect(one.fresh.of(session)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  });

  test("since it is down: the access token is used until it expires, and the refresh is tried again", async () => {
    const { one, session } = await twoReplicas();
    answer = () => Promise.reject(new ServiceError("UNAVAILABLE", "down"));
    expect(await one.fresh.of(session)).toEqual(session);
    isExpired = true;
    await expect(one.fresh.of(session)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    answer = async () => ({ accessToken: accessToken(now) });
    expect((await one.fresh.of(session)).tokens).toEqual({
      accessToken: accessToken(now),
      refreshToken: "r",
      idToken: "i",
    });
    expect(refreshes).toEqual(["r", "r", "r"]);
  });

  test("before the person logs out: what it gives then is revoked", async () => {
    const { one, session } = await twoReplicas();
    answer = async () => {
      await one.sessions.end(session.id);
      return { accessToken: accessToken(now), refreshToken: "new" };
    };
    await expect(one.fresh.of(session)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    expect(revoked).toEqual(["new"]);
  });
});

test("a provider whose clock is far behind is not asked with each request", async () => {
  const { one, session } = await twoReplicas();
  answer = async () => ({ accessToken: accessToken(now - 60 * MINUTE) });
  const refreshed = await one.fresh.of(session);
  expect(await one.fresh.of(refreshed)).toBe(refreshed);
  now += 1000;
  await one.fresh.of(refreshed);
  expect(refreshes).toHaveLength(2);
});

test("tokens that are not near their end are used as they are", async () => {
  const { one, session } = await twoReplicas();
  now -= 1;
  expect(await one.fresh.of(session)).toBe(session);
  expect(refreshes).toEqual([]);
});

test("two tabs that refresh at once both get the tokens of one refresh [IDP-19]", async () => {
  const { one, session } = await twoReplicas();
  const [first, second] = await Promise.all([one.fresh.of(session), one.fresh.of(session)]);
  expect(first).toEqual(second);
  expect(first.tokens.refreshToken).toBe("r+");
  expect(refreshes).toEqual(["r"]);
});

test.each([
  { expired: false, what: "the other one uses the old access token" },
  { expired: true, what: "the other one waits" },
])("two replicas refresh once, and $what [IDP-19]", async ({ expired }) => {
  const { one, other, session } = await twoReplicas();
  isExpired = expired;
  const answerAtOnce = answer;
  let letAnswer: () => void = () => undefined;
  const isAsked = new Promise<void>((asked) => {
    answer = async (used) => {
      const mayAnswer = new Promise<void>((resolve) => {
        letAnswer = resolve;
      });
      asked();
      await mayAnswer;
      return answerAtOnce(used);
    };
  });
  const first = one.fresh.of(session);
  await isAsked;
  const second = other.fresh.of(session);
  if (!expired) expect(await second).toEqual(session);
  letAnswer();
  const refreshed = await first;
  if (expired) expect(await second).toEqual(refreshed);
  expect(refreshed.tokens.refreshToken).toBe("r+");
  expect(refreshes).toEqual(["r"]);
  // A tab that has read the session before does not cause another refresh.
  expect(await other.fresh.of(session)).toEqual(refreshed);
  expect(refreshes).toEqual(["r"]);
});
