/** Secrets in forms whose key is not obvious. */
import { describe, expect, test } from "vitest";
import { redactText } from "../../../../src/runtime/logging/redaction/redact-text.ts";
import { redact } from "../../../../src/runtime/logging/redaction/redaction.ts";
import { cpuMilliseconds } from "../../../support/cpu-time.ts";

const SECRET = "hunter2-Value";

describe("a secret in a text is redacted", () => {
  test.each<[string, string]>([
    ["by a short name", `pw=${SECRET}`],
    ["of a session in a query", `/x?sid=${SECRET}`],
    ["of SAML in a query", `/x?SAMLResponse=${SECRET}`],
    [
      "in the query of a redirect in a query",
      `/login?redirect_uri=https%3A%2F%2Fx%2Fcb%3Faccess_token%3D${SECRET}%26a%3D1`,
    ],
    ["in a redirect in a redirect", `/login?next=%252Fcb%253Ftoken%253D${SECRET}%2526a%253D1`],
    ["as the code of a login in a redirect", `/login?next=%2Fcb%3Fstate%3D${SECRET}%26code%3D1`],
    ["after an encoded colon", `/x?h=authorization%3A${SECRET}`],
    ["by a name that is encoded twice", `/x?%2574oken=${SECRET}`],
    ["by an escaped name", `body {"\\u0070assword":"${SECRET}"}`],
    ["by a name in brackets", `user[password]=${SECRET}`],
    ["by a name in brackets and quotes", `config["password"] = "${SECRET}"`],
    ["after an arrow", `Map(1) { 'token' => '${SECRET}' }`],
    ["in an element", `<a><password>${SECRET}</password></a>`],
    ["after an option", `run --password ${SECRET} --verbose`],
    ["of another scheme", `Authorization: Token ${SECRET}`],
    ["of a signature", `authorization: AWS4-HMAC-SHA256 Credential=x, Signature=${SECRET}`],
    ["of a digest", `Proxy-Authorization: Digest username="bob", response="${SECRET}"`],
    ["in a URL with a slash in it", `postgres://iam:pa/${SECRET}@db/iam`],
    ["in a URL with a hash in it", `postgres://iam:pa#${SECRET}@db/iam`],
    ["in a URL with an at sign in it", `postgres://iam:p@${SECRET}@db/iam`],
    ["in the place of the user", `https://${SECRET}0123456789@git.example/x`],
    ["in SQL", `ALTER ROLE iam WITH PASSWORD '${SECRET}'`],
    ["in SQL of another kind", `CREATE USER iam IDENTIFIED BY '${SECRET}'`],
    ["in a matrix parameter", `/v1/x;token=${SECRET}/y`],
    ["in metadata", `x-svc-internal-token: ${SECRET}`],
  ])("%s", (_name, text) => {
    expect(redactText(text)).not.toContain(SECRET);
    expect(redactText(`before ${text}`)).toContain("***");
    expect(JSON.stringify(redact(new Error(text)))).not.toContain(SECRET);
  });

  test.each([
    "http://host:8080/path?email=a@b",
    "http://[::1]:80/x@y",
    "https://alice@git.example/x",
    "the token is missing",
    "a <b>bold</b> word",
    "ran -v quietly",
    "redirect_uri=https%3A%2F%2Fx%2Fcb%3Fpage%3D2",
    "Unexpected token '<', \"<html>\" is not valid JSON",
    "price%3A12",
  ])("what is none stays: %s", (text) => {
    expect(redactText(text)).toBe(text);
  });
});

describe("a secret in a value is redacted", () => {
  test.each<[string, unknown]>([
    ["of a header in a HAR file", [{ name: "Authorization", value: SECRET }]],
    ["of an environment", { env: [{ name: "DB_PASSWORD", value: SECRET }] }],
    ["of several values", { key: "client_secret", values: [SECRET] }],
    ["of a private key", { kty: "RSA", n: "n", e: "AQAB", d: SECRET, p: SECRET, q: SECRET }],
    ["of a symmetric key", { keys: [{ kty: "oct", k: SECRET }] }],
    ["of a command line", { argv: ["node", "--db-password", SECRET] }],
    ["of an invalid URL", failureOf(() => new URL(`postgres://iam:p/${SECRET}@h h/db`))],
  ])("%s", (_name, value) => {
    expect(JSON.stringify(redact({ value }))).not.toContain(SECRET);
  });

  test("a pair, a key and a command line without a secret stay unchanged", () => {
    const value = {
      pair: { name: "Accept", value: "text/html" },
      key: { kty: "RSA", n: "n", e: "AQAB", kid: "one" },
      argv: ["node", "--port", "80", "d"],
      point: { d: 1, p: 2 },
    };
    expect(redact(value)).toEqual(value);
  });
});

function failureOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test.each([
  "token=",
  "token%3D",
  "token%3D%26",
  "a%253Dtoken",
  "%2525253D",
  "--password ",
  "<token>",
  "<token",
  "a://b:",
  "a://b:c@",
  "https://aaaaaaaaaaaaaaa1",
  "\\u0070",
  "password '",
  "password '\\'",
  "authorization: ",
  "a]",
  "=>",
])("a text of only %j costs little", (piece) => {
  const text = piece.repeat(Math.ceil(16_384 / piece.length));
  expect(cpuMilliseconds(() => void redactText(text))).toBeLessThan(2000);
});
