import { describe, expect, test } from "vitest";
import { redactText } from "../../../src/runtime/operation/redaction/redact-text.ts";
import { redact } from "../../../src/runtime/operation/redaction/redaction.ts";
import { isSecretKey } from "../../../src/runtime/operation/redaction/secret-keys.ts";

const SECRET = "hunter2-Value";

test.each([
  // Spec 7, rule 5.
  ...["password", "secret", "token", "access_key", "secret_key", "client_secret"],
  ...["Password", "PASSWORD", "clientSecret", "client-secret", "CLIENT.SECRET", "accessKey"],
  ...["AccessKeyId", "refresh_token", "id_token", "x-svc-internal-token", "X-Svc-Internal-JWT"],
  ...["authorization", "Proxy-Authorization", "cookie", "set-cookie", "apiKey", "private_key"],
  ...["db_password", "userPassword", "passwd", "pwd", "passphrase", "credentials", "tokens"],
  ...[" token ", "token\u0000", "t_o_k_e_n", "accesstoken"],
])("the value of %j is a secret", (key) => {
  expect(isSecretKey(key)).toBe(true);
  expect(JSON.stringify(redact({ [key]: SECRET }))).not.toContain(SECRET);
});

test.each(["token_type", "tokenEndpoint", "expires_in", "path", "author", "key", "id", "code", ""])(
  "the value of %j is none",
  (key) => {
    expect(isSecretKey(key)).toBe(false);
  },
);

describe("a secret is found", () => {
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
    ["in JSON that was cut", `{"token":"${SECRET}`],
    ["in escaped JSON", `said: {\\"token\\":\\"${SECRET}\\"}`],
    ["in JSON inside a text", `body was {"password": "${SECRET} \\" more"} there`],
    ["in a header line", `Authorization: Bearer ${SECRET}`],
    ["in a basic header", `sent Basic ${Buffer.from(`alice:${SECRET}`).toString("base64")}=`],
    ["in a cookie line", `Cookie: theme=dark; session=${SECRET}; x=${SECRET}`],
    ["that is a JSON Web Token", `got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiI${SECRET}.c2ln`],
    ["that is a private key", `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----`],
  ])("%s", (_, value) => {
    const told = JSON.stringify(redact({ value }));
    expect(told).not.toContain(SECRET);
    expect(told).not.toContain(Buffer.from(`alice:${SECRET}`).toString("base64"));
  });
});

test("what is no secret stays", () => {
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

test("cycles, depth, size and what throws are bounded", () => {
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
  const started = performance.now();
  redactText(text);
  expect(performance.now() - started).toBeLessThan(250);
});
