import { DatabaseError } from "svc-access/database";
import { type Principal, ServiceError, type TokenVerifier } from "svc-access/runtime";
import { beforeEach, describe, expect, test } from "vitest";
import { MissingKeyError, UnsealError } from "../../../src/ground/secrets/secret-box.ts";
import type {
  BrowserSession,
  BrowserSessions,
} from "../../../src/login/browser/browser-sessions.ts";
import type { FreshTokens } from "../../../src/login/browser/fresh-tokens.ts";
import { SessionAuthenticator } from "../../../src/login/browser/session-authenticator.ts";
import { SESSION } from "../../support/browser-login.ts";

const ALICE = { subjectType: "user", subjectId: "alice" } as Principal;
const COOKIE = "A".repeat(43);
const SESSION_OF_ALICE: BrowserSession = {
  id: "the id",
  subjectType: "user",
  subjectId: "alice",
  tokens: { accessToken: "a", refreshToken: "r", idToken: "i" },
  refreshTime: 0,
};

let ended: string[];
let logged: string[];
beforeEach(() => {
  ended = [];
  logged = [];
});

interface Parts {
  readonly use?: () => Promise<BrowserSession | undefined>;
  readonly fresh?: (session: BrowserSession) => Promise<BrowserSession>;
  readonly verify?: TokenVerifier["verify"];
}

function authenticate(cookie: string | undefined, parts: Parts = {}) {
  const {
    use = async () => SESSION_OF_ALICE,
    fresh = async (session) => session,
    verify = async () => ({ active: true, principal: ALICE }) as never,
  } = parts;
  const sessions = { use, end: async (id: string) => void ended.push(id) };
  const authenticator = new SessionAuthenticator({
    sessions: sessions as unknown as BrowserSessions,
    fresh: { of: fresh } as FreshTokens,
    verifier: { verify },
    logger: {
      error: ({ key }: { readonly key?: string }, message: string) =>
        void logged.push([message, key].filter((part) => part !== undefined).join(" ")),
    } as never,
  });
  const values = cookie === undefined ? [] : [`${SESSION}=${cookie}`];
  const headers = { all: (name: string) => (name === "cookie" ? values : []) };
  return authenticator.authenticate({ headers } as never);
}

const fails = (error: Error) => () => Promise.reject(error);
const inactive = (reason: string) => async () => ({ active: false, reason }) as never;

describe("a session that identifies nobody", () => {
  test.each<[string, Parts, string, string[], string[]]>([
    ["there is none", { use: async () => undefined }, "UNAUTHORIZED", [], []],
    [
      "the database is down",
      { use: fails(new DatabaseError("UNAVAILABLE", "down")) },
      "UNAVAILABLE",
      [],
      [],
    ],
    [
      "this replica lacks its encryption key",
      { use: fails(new MissingKeyError("k1", "no key k1")) },
      "UNAVAILABLE",
      [],
      ["a browser session cannot be read: an encryption key is missing k1"],
    ],
    [
      "it was changed in the database",
      { use: fails(new UnsealError("changed")) },
      "UNAUTHORIZED",
      [],
      ["a browser session cannot be read, and is over"],
    ],
    [
      "this replica lacks the key that signed its token",
      { verify: inactive("invalid") },
      "UNAVAILABLE",
      [],
      ["the access token of a browser session cannot be verified"],
    ],
    [
      "its tokens cannot be refreshed now",
      { fresh: fails(new ServiceError("UNAVAILABLE", "down")) },
      "UNAVAILABLE",
      [],
      [],
    ],
    ["its token was revoked", { verify: inactive("revoked") }, "UNAUTHORIZED", ["the id"], []],
    ["its token has expired", { verify: inactive("expired") }, "UNAUTHORIZED", ["the id"], []],
    [
      "its token is of somebody else",
      {
        verify: async () => ({ active: true, principal: { ...ALICE, subjectId: "bob" } }) as never,
      },
      "UNAUTHORIZED",
      ["the id"],
      [],
    ],
    [
      "its token is of a service account of the same id",
      {
        verify: async () =>
          ({ active: true, principal: { ...ALICE, subjectType: "service_account" } }) as never,
      },
      "UNAUTHORIZED",
      ["the id"],
      [],
    ],
    [
      "it is not known what is revoked",
      { verify: fails(new ServiceError("UNAVAILABLE", "unknown")) },
      "UNAVAILABLE",
      [],
      [],
    ],
  ])("since %s", async (_why, parts, code, endedIds, lines) => {
    await expect(authenticate(COOKIE, parts)).rejects.toMatchObject({ code });
    expect([ended, logged]).toEqual([endedIds, lines]);
  });
});

test("a call without the cookie has no session", async () => {
  expect(await authenticate(undefined, { use: fails(new Error("not asked")) })).toBeUndefined();
});

test("the caller is whom the fresh access token names", async () => {
  const verified: string[] = [];
  const identity = await authenticate(COOKIE, {
    fresh: async (session) => ({ ...session, tokens: { ...session.tokens, accessToken: "new" } }),
    verify: async (token) => {
      verified.push(token);
      return { active: true, principal: ALICE } as never;
    },
  });
  expect(identity).toEqual({ principal: ALICE, credential: "cookie" });
  expect(verified).toEqual(["new"]);
});
