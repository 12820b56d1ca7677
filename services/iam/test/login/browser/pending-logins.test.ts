import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { EncryptionKeys } from "../../../src/ground/secrets/encryption-keys.ts";
import { OutsideValues } from "../../../src/ground/secrets/outside-values.ts";
import { SecretBox } from "../../../src/ground/secrets/secret-box.ts";
import { PENDING_COOKIE } from "../../../src/login/browser/cookies.ts";
import { PendingLogins } from "../../../src/login/browser/pending-logins.ts";

const NOW = Date.parse("2026-05-05T12:00:00Z");
const RETURN = "https://iam.example.com/skills";

function newValues(): OutsideValues {
  const box = new SecretBox(EncryptionKeys.parse(randomBytes(32).toString("base64")));
  return new OutsideValues(box, { has: () => undefined, add: () => undefined });
}

/** The headers of a browser with cookies. */
function withCookies(...cookies: readonly string[]) {
  return {
    all: (name: string) => (name === "cookie" && cookies.length > 0 ? [cookies.join("; ")] : []),
    names: () => ["cookie"],
  };
}

const pairOf = (line: string) => line.slice(0, line.indexOf(";"));

function begun() {
  let now = NOW;
  const pending = new PendingLogins(newValues(), () => now);
  const { login, codeChallenge, cookies } = pending.begin(withCookies(), RETURN);
  return {
    pending,
    login,
    codeChallenge,
    line: cookies[0] ?? "",
    cookie: pairOf(cookies[0] ?? ""),
    wait: (ms: number) => {
      now += ms;
    },
  };
}

describe("31 a callback that is not of a login of this browser [IDP-18]", () => {
  test.each<[string, (one: ReturnType<typeof begun>) => unknown]>([
    ["without cookies", ({ pending, login }) => pending.find(withCookies(), login.state)],
    ["with an empty state", ({ pending, cookie }) => pending.find(withCookies(cookie), "")],
    [
      "with another state",
      ({ pending, cookie }) => pending.find(withCookies(cookie), "a".repeat(43)),
    ],
    [
      "with the state and the cookie of different logins",
      ({ pending, cookie, login }) => {
        const other = pending.begin(withCookies(), RETURN);
        const name = pairOf(other.cookies[0] ?? "").split("=")[0];
        const moved = `${name}=${cookie.split("=")[1]}`;
        expect(login.state).not.toBe(other.login.state);
        return pending.find(withCookies(moved), other.login.state);
      },
    ],
    [
      "with the cookie twice",
      ({ pending, cookie, login }) => pending.find(withCookies(cookie, cookie), login.state),
    ],
    [
      "with a changed cookie",
      ({ pending, cookie, login }) => {
        const last = cookie.at(-2) === "A" ? "B" : "A";
        return pending.find(
          withCookies(`${cookie.slice(0, -2)}${last}${cookie.at(-1)}`),
          login.state,
        );
      },
    ],
    [
      "with text as cookie",
      ({ pending, cookie, login }) =>
        pending.find(withCookies(`${cookie.split("=")[0]}=x`), login.state),
    ],
    [
      "after ten minutes",
      ({ pending, cookie, login, wait }) => {
        wait(600_000);
        return pending.find(withCookies(cookie), login.state);
      },
    ],
  ])("%s", (_how, find) => {
    expect(find(begun())).toBeUndefined();
  });
});

test.each<[string, Readonly<Record<string, unknown>>]>([
  ["with a further field", { audience: "console" }],
  ["without a field", { returnTo: undefined }],
  ["with a field of another type", { expireTime: "2026-05-05T12:10:00Z" }],
])("a login of another version of the service, %s, begins anew", (_, changes) => {
  const values = newValues();
  const pending = new PendingLogins(values, () => NOW);
  const { login, cookies } = pending.begin(withCookies(), RETURN);
  const [name = ""] = pairOf(cookies[0] ?? "").split("=");
  const place = { table: "cookie", column: PENDING_COOKIE, row: name };
  const sealed = values.seal(JSON.stringify({ ...login, ...changes }), place);
  expect(pending.find(withCookies(`${name}=${sealed}`), login.state)).toBeUndefined();
});

test("a login of a replica whose key is missing here continues there", () => {
  const { cookie, login } = begun();
  const other = new PendingLogins(newValues(), () => NOW);
  expect(() => other.find(withCookies(cookie), login.state)).toThrow(
    expect.objectContaining({ code: "ABORTED" }),
  );
});

test("a login is found in its browser, beside other cookies, until it ends", () => {
  const { pending, login, cookie, wait } = begun();
  wait(599_999);
  expect(pending.find(withCookies("a=b", cookie, "c"), login.state)).toEqual(login);
  expect(pending.ended(login.state)).toBe(
    `${cookie.split("=")[0]}=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Lax`,
  );
});

test("33 the challenge is the hash of a verifier that only the sealed cookie has", async () => {
  const { login, codeChallenge, line } = begun();
  const hash = await crypto.subtle.digest("SHA-256", Buffer.from(login.codeVerifier));
  expect(codeChallenge).toBe(Buffer.from(hash).toString("base64url"));
  for (const secret of [login.codeVerifier, login.nonce, login.state]) {
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(line).not.toContain(secret);
  }
  expect(line).toMatch(
    /^__Host-iam_pending_[\w-]{12}=[\w.-]+; Max-Age=600; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
  );
});

test("the fifth login at once ends the others, so that the headers of requests stay small", () => {
  const { pending } = begun();
  const jar: string[] = [];
  for (let count = 0; count < 4; count++) {
    const { cookies } = pending.begin(withCookies(...jar), RETURN);
    expect(cookies).toHaveLength(1);
    jar.push(pairOf(cookies[0] ?? ""));
  }
  const { cookies } = pending.begin(withCookies(...jar), RETURN);
  expect(cookies.slice(1).map((line) => line.split("=")[0])).toEqual(
    jar.map((pair) => pair.split("=")[0]),
  );
  for (const line of cookies.slice(1)) expect(line).toContain("Max-Age=0");
});
