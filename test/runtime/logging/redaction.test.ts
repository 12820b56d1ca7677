import { describe, expect, test } from "vitest";
import { isSecretKey } from "../../../src/runtime/logging/redaction/named-secrets.ts";
import { redactText } from "../../../src/runtime/logging/redaction/redact-text.ts";
import { redact } from "../../../src/runtime/logging/redaction/redaction.ts";
import { cpuMilliseconds } from "../../support/cpu-time.ts";

const SECRET = "hunter2-Value";
const KEY = { kty: "RSA", dp: "***", dq: "***", qi: "***", oth: "***", k: "***", d: "***", e: "e" };
const NO_STACK = { type: "Error", message: "no" };

/** The expected form of an error in the log. */
const loggedError = (type: string, message: string) => ({
  type,
  message,
  stack: expect.any(String),
});
const privateKey = (value: string) =>
  `-----BEGIN PRIVATE KEY-----\n${value}\n-----END PRIVATE KEY-----\n`;
const jwt = (value: string) => `eyJhbGciOiJSUzI1NiJ9.${value}.c2ln`;

test.each([
  // OBS-4 of docs/requirements.md.
  ...["password", "secret", "token", "access_key", "secret_key", "client_secret"],
  ...["Password", "PASSWORD", "clientSecret", "client-secret", "CLIENT.SECRET", "accessKey"],
  ...["AccessKeyId", "refresh_token", "id_token", "x-svc-internal-token", "X-Svc-Internal-JWT"],
  ...["authorization", "Proxy-Authorization", "cookie", "set-cookie", "apiKey", "private_key"],
  ...["db_password", "userPassword", "passwd", "pwd", "passphrase", "credentials", "tokens"],
  ...[" token ", "token\u0000", "t_o_k_e_n", "accesstoken"],
  ...["pass", "signing_key", "type_token", "expiry-token", "svcJwt"],
])("the value of %j is a secret [OBS-4]", (key) => {
  expect(isSecretKey(key)).toBe(true);
  expect(JSON.stringify(redact({ [key]: SECRET }))).not.toContain(SECRET);
});

test.each([
  ...["token_type", "tokenEndpoint", "expires_in", "path", "author", "key", "id", "code", ""],
  ...["token_ttl", "tokenCount", "password_length", "token_expires", "tokenExpiresIn"],
  ...["token_expires_at", "tokenExpiry", "bypass", "compass", "passage"],
])("the value of %j is none", (key) => {
  expect(isSecretKey(key)).toBe(false);
});

describe("a secret is found [OBS-4]", () => {
  const deep = (value: unknown, levels: number): unknown =>
    levels === 0 ? value : { below: deep(value, levels - 1) };
  class Credentials {
    readonly password = SECRET;
    readonly user = "alice";
  }
  test.each<[string, unknown]>([
    ["six levels down", deep({ token: SECRET }, 6)],
    ["twenty levels down", deep({ token: SECRET }, 20)],
    ["in a list in a list", [[{ token: SECRET }]]],
    ["in a map", new Map([["refresh_token", SECRET]])],
    ["in a map of maps", new Map([["a", new Map([["secret", SECRET]])]])],
    ["in a map by objects", new Map([[{ token: SECRET }, 1]])],
    ["in a set", new Set([{ secret: SECRET }])],
    ["in an object of a class", new Credentials()],
    ["that is an object", { token: { value: SECRET } }],
    ["that is a list", { tokens: [SECRET] }],
    ["that is bytes", { data: Buffer.from(SECRET) }],
    ["in headers", new Headers({ authorization: `Bearer ${SECRET}` })],
    ["in raw headers", { rawHeaders: ["Host", "x", "Cookie", `a=${SECRET}`] }],
    ["in the message of an error", new Error(`no ?token=${SECRET}&x=1`)],
    ["in the cause of an error", new Error("x", { cause: new Error(`password=${SECRET}`) })],
    ["in a field of an error", Object.assign(new Error("x"), { config: { secret: SECRET } })],
    ["in errors of an error", new AggregateError([new Error(`secret: ${SECRET}`)], "x")],
    ["in a query", `/v1/x?access_token=${SECRET}&page=2`],
    ["in an encoded query", `/v1/x?acc%65ss_token=${SECRET}`],
    ["in the query of a login", `/callback?code=${SECRET}&state=${SECRET}`],
    ["in a fragment", `https://x/#access_token=${SECRET}`],
    ["in a URL's password", `postgres://iam:${SECRET}@db/iam`],
    ["in a URL", new URL(`https://u:${SECRET}@x/?token=${SECRET}`)],
    ["in query parameters", new URLSearchParams({ token: SECRET, page: "2" })],
    ["in JSON", `{"a":[{"client_secret":"${SECRET}"}]}`],
    ["in JSON within JSON", JSON.stringify({ body: JSON.stringify({ token: SECRET }) })],
    ["in truncated JSON", `{"token":"${SECRET}`],
    ["in escaped JSON", `said: {\\"token\\":\\"${SECRET}\\"}`],
    ["in JSON inside a text", `body was {"password": "${SECRET} \\" more"} there`],
    ["in a header line", `Authorization: Bearer ${SECRET}`],
    ["in a basic header", `sent Basic ${Buffer.from(`alice:${SECRET}`).toString("base64")}=`],
    ["in a cookie line", `Cookie: theme=dark; session=${SECRET}; x=${SECRET}`],
    ["that is a JSON Web Token", `got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiI${SECRET}.c2ln`],
    ["that is a private key", `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----`],
  ])("%s", (_, value) => {
    const logged = JSON.stringify(redact({ value }));
    expect(logged).not.toContain(SECRET);
    expect(logged).not.toContain(Buffer.from(`alice:${SECRET}`).toString("base64"));
  });
});

describe("a secret in a text is removed", () => {
  test.each<[string, string]>([
    ["after a scheme, whatever the header is called", `x-token: Bearer ${SECRET}`],
    ["after a scheme in capitals", `token=BASIC ${SECRET}`],
    ["after a digest", `proxy-token: Digest ${SECRET}`],
    ["after an escaped quote", `body {"password": "a\\"${SECRET}"}`],
    ["after an escaped quote of SQL", `ALTER ROLE iam PASSWORD 'a\\'${SECRET}'`],
    ["in single quotes with a space", `password='a ${SECRET}'`],
    ["in the second element", `<token>a</token><password>${SECRET}</password>`],
    ["after the second option", `run --token aaa --password ${SECRET}`],
    ["by two escaped letters", `{"\\u0070assw\\u006Frd":"${SECRET}"`],
    ["by a short name", `pwd=${SECRET}`],
    ["by a credential", `credential=${SECRET}`],
    ["by a name that ends in jwt", `x-jwt=${SECRET}`],
    ["in a truncated private key", `-----BEGIN EC PRIVATE KEY-----\n${SECRET}`],
    ["in the second of two private keys", `${privateKey("a")}${privateKey(SECRET)}`],
    ["in the second of two JSON Web Tokens", `${jwt("a")} ${jwt(SECRET)}`],
    ["in the second of two bearers", `bearer abcde1 Bearer ${SECRET}`],
    ["in a URL's password with a quote in it", `PG://u:a"${SECRET}@h PG://u:b"${SECRET}@h`],
    ["in the second of two URLs with a slash", `PG://u:p/a@h PG://u:p/${SECRET}@h`],
    ["in the place of the user, twice", `GIT://${SECRET}012345@h GIT://${SECRET}012345@h`],
    ["in the second of two cookie lines", `Cookie: a=b\nSet-Cookie: c=${SECRET}`],
    ["of a login in a redirect's fragment", `/login?next=%2Fcb%23code%3D${SECRET}`],
    ["of a login after another parameter", `/login?next=%2Fcb%3Fa%3D1%26code%3D${SECRET}`],
    ...[
      ...["code", "state", "code_verifier", "assertion", "client_assertion", "sig", "signature"],
      ...["session", "session_id", "sid", "SAMLResponse"],
    ].map((name): [string, string] => [`in a query as ${name}`, `/x?a=1&${name}=${SECRET}`]),
  ])("%s", (_, text) => {
    expect(redactText(text)).not.toContain(SECRET);
    expect(redactText(text)).toContain("***");
  });
});

test.each([
  [`{"a":{"password":"x y"},"b":1`, `{"a":{"password":"***"},"b":1`],
  [`{\\"token\\":\\"x\\",\\"b\\":1`, `{\\"token\\":\\"***\\",\\"b\\":1`],
  [`{ 'token': 'x', 'b': 1 }`, `{ 'token': '***', 'b': 1 }`],
  [`authorization: "Bearer x", page: 2`, `authorization: "***", page: 2`],
  ["/x?token=a&page=2", "/x?token=***&page=2"],
  ["next=%2Fx%3Ftoken%3Da%26page%3D2", "next=%2Fx%3Ftoken%3D***%26page%3D2"],
  ["token%3D%26page%3D2", "token%3D%26page%3D2"],
  [`a ${privateKey("x")}b`, "a ***\nb"],
  ["/x?postcode=1234&codes=5&sided=6", "/x?postcode=1234&codes=5&sided=6"],
  ["its key is a <b>bold</b> word", "its key is a <b>bold</b> word"],
  ["its key is --bold word", "its key is --bold word"],
])("around a secret all stays: %j is reported as %j", (text, expected) => {
  expect(redactText(text)).toBe(expected);
});

class Unreadable extends Error {
  override readonly name = "Unreadable";
  get code(): string {
    return "E1";
  }
}

test.each<[string, unknown, unknown]>([
  ["NaN", Number.NaN, "NaN"],
  ["infinity", Number.NEGATIVE_INFINITY, "-Infinity"],
  ["a symbol", Symbol("a"), "Symbol(a)"],
  ["a function", () => undefined, "[function]"],
  ["an invalid time", new Date(Number.NaN), "Invalid Date"],
  ["a pattern", /a+/i, "/a+/i"],
  ["bytes", new Uint8Array(3), "[3 bytes]"],
  ["a buffer", new ArrayBuffer(4), "[4 bytes]"],
  ["a set", new Set(["a", { b: 1 }]), ["a", { b: 1 }]],
  ["a map", new Map<unknown, unknown>([["a", { b: 1 }]]), { a: { b: 1 } }],
  ["a map by numbers", new Map([[5, "a"]]), { 5: "a" }],
  ["a URL", new URL("https://x/?token=a&page=2"), "https://x/?token=***&page=2"],
  ["query parameters", new URLSearchParams("token=a&page=2"), "token=***&page=2"],
  ["headers", new Headers({ accept: "a", cookie: "b" }), { accept: "a", cookie: "***" }],
  ["raw headers", ["Host", "x", "Cookie", "a=b", "c"], ["Host", "x", "Cookie", "***", "c"]],
  ["no raw headers", ["a", "Cookie", "b"], ["a", "Cookie", "b"]],
  ["a sentence and a word", ["the token is", "b"], ["the token is", "b"]],
  ["a name of 64", [`${"x".repeat(59)}token`, "b"], [`${"x".repeat(59)}token`, "***"]],
  ["a name of 65", [`${"x".repeat(60)}token`, "b"], [`${"x".repeat(60)}token`, "b"]],
  ["an object of a secret name", ["Token", { a: 1 }], ["Token", { a: 1 }]],
  ["a command line", ["x", "--token", "a", "b"], ["x", "--token", "***", "b"]],
  ["an option with its value", ["x", "--token=a", "b"], ["x", "--token=***", "b"]],
  ["an option in a sentence", ["x", "try --token", "b"], ["x", "try --token", "b"]],
  ["a pair", { name: "Token", VALUE: "a", note: "n" }, { name: "Token", VALUE: "***", note: "n" }],
  ["a pair by key", { key: "Token", values: ["a"] }, { key: "Token", values: "***" }],
  ["no pair", { name: "Token", revalue: "a", valued: "b" }, null],
  ["a list in JSON", '[{"token":{"is":"a"}}]', '[{"token":"***"}]'],
  ["an object in JSON", '{"tokens":["a",1],"page":2}', '{"tokens":"***","page":2}'],
  ["what begins like JSON", "{a [b] c", null],
  ["nothing that could be a secret", { token: null, secret: "", password: false }, null],
  ["what is undefined", { a: undefined, b: 1 }, { b: 1 }],
  ["a key", { kty: "RSA", dp: "a", dq: "a", qi: "a", oth: ["a"], k: "a", d: "a", e: "e" }, KEY],
  [
    "an error",
    Object.assign(new TypeError("no", { cause: new RangeError("why") }), { code: "E1", name: "X" }),
    { ...loggedError("X", "no"), code: "E1", cause: loggedError("RangeError", "why") },
  ],
  ["an error without a stack", Object.assign(new Error("no"), { stack: undefined }), NO_STACK],
  [
    "errors of an error",
    new AggregateError([new Error("one"), "two"], "all"),
    { ...loggedError("AggregateError", "all"), errors: [loggedError("Error", "one"), "two"] },
  ],
  [
    "what throws while it is read",
    {
      get a() {
        throw new Unreadable();
      },
    },
    "[unreadable: Unreadable]",
  ],
])("%s is reported as what it is, but for secrets", (_, value, expected) => {
  expect(redact(value)).toStrictEqual(expected ?? value);
});

test("omitted parts are marked", () => {
  const list = redact(Array.from({ length: 103 }, (_, index) => index)) as unknown[];
  expect(list).toHaveLength(101);
  expect(list.at(-1)).toBe("[3 more]");
  expect(redact(Array.from({ length: 100 }, () => 1))).toHaveLength(100);
  const wide = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`k${index}`, index]));
  expect(Object.keys(redact(wide) as object)).toHaveLength(101);
  expect(redact(wide)).toMatchObject({ k0: 0, k99: 99, "…": "[more]" });
  const { k100: _, ...fits } = wide;
  expect(redact(fits)).toEqual(fits);
  const nested = (levels: number): unknown => (levels === 0 ? {} : { below: nested(levels - 1) });
  expect(redact(nested(7))).toEqual(nested(7));
  expect(JSON.stringify(redact(nested(8)))).toContain('"below":"[too deep or too large]"');
  const many = Array.from({ length: 99 }, () => Array.from({ length: 50 }, () => ({})));
  // 2,000 in total, including the lists.
  expect(JSON.stringify(redact(many)).match(/\{\}/g)).toHaveLength(1959);
  expect(JSON.stringify(redact(many))).toContain('"[too deep or too large]"');
  const text = "x".repeat(16 * 1024);
  expect(redactText(text)).toBe(text);
  expect(redactText(`a${text}bcd`)).toBe(`a${text.slice(1)}… (4 more characters)`);
});

test("other values stay unchanged", () => {
  const value = {
    rpc: "hub.v1.S/Get",
    status: 200,
    ok: true,
    none: null,
    tags: ["a", "b"],
    at: new Date(0),
    size: 12n,
    nested: { page: 2 },
    url: "https://x/v1/things?page=2",
    token: "",
    hasToken: true,
  };
  expect(redact(value)).toEqual({
    ...value,
    at: "1970-01-01T00:00:00.000Z",
    size: "12",
  });
  expect(redactText("the key of the map is wrong")).toBe("the key of the map is wrong");
});

test("cycles, depth, size and errors of getters are handled", () => {
  const cycle: Record<string, unknown> = { name: "a" };
  cycle["self"] = cycle;
  expect(redact(cycle)).toEqual({ name: "a", self: "[circular]" });
  const shared = { a: 1 };
  expect(redact({ x: shared, y: shared })).toEqual({ x: { a: 1 }, y: { a: 1 } });
  const wide = Array.from({ length: 10_000 }, (_, index) => ({ index }));
  expect(JSON.stringify(redact({ wide, again: wide })).length).toBeLessThan(10_000);
  expect(JSON.stringify(redact({ long: "x".repeat(1e6) })).length).toBeLessThan(20_000);
  const hostile = {
    get trap() {
      throw new Error(SECRET);
    },
  };
  expect(JSON.stringify(redact({ hostile }))).not.toContain(SECRET);
  const proxy = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error("no");
      },
    },
  );
  expect(() => redact({ proxy })).not.toThrow();
  expect(redact(JSON.parse('{"__proto__": {"a": 1}}'))).toEqual({ "[__proto__]": { a: 1 } });
  const error = new Error("x");
  error.cause = error;
  expect(() => JSON.stringify(redact(error))).not.toThrow();
});

test.each([
  ["\u001b[31mred", "\\u001b[31mred"],
  ["a\rb", "a\\u000db"],
  ["a\u2028b\u2029", "a\\u2028b\\u2029"],
  ["\u009b31m", "\\u009b31m"],
  ["\u202eexe.txt", "\\u202eexe.txt"],
  ["a\nb\tc", "a\nb\tc"],
])("%j is written as %j", (text, expected) => {
  expect(redactText(text)).toBe(expected);
});

test.each([
  ["token".repeat(3000)],
  [`${'"\\'.repeat(8000)}token`],
  ["basic ".repeat(2600) + "\t".repeat(500)],
  [`cookie${" ".repeat(15_000)}`],
  ["-----BEGIN PRIVATE KEY-----".repeat(600)],
  [`${"a://".repeat(4000)}@`],
  ["eyJ".repeat(5000)],
  [`${"%20".repeat(5000)}token=`],
])("a hostile text costs little: %#", (text) => {
  expect(cpuMilliseconds(() => void redactText(text))).toBeLessThan(1000);
});
