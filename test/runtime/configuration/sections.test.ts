/** The sections of a service's own in its configuration. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import { readConfig } from "../../../src/operator/command/flags.ts";
import {
  type LoadServiceConfigOptions,
  parseServiceConfig,
} from "../../../src/runtime/configuration/load-service-config.ts";
import type {
  ConfigurationSections,
  StandardSchema,
} from "../../../src/runtime/configuration/standard-schema.ts";
import { redactText } from "../../../src/runtime/logging/redaction/redact-text.ts";
import { redact } from "../../../src/runtime/logging/redaction/redaction.ts";
import { loadServiceConfig } from "../../../src/runtime/server/load-configuration.ts";
import { MINIMAL, problemsOf as problemsWith } from "./sample.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-sections-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const iam = z.strictObject({
  issuer: z.string().min(1, "must not be empty"),
  code_digits: z.number().int().min(6).default(8),
  providers: z.array(z.strictObject({ name: z.string(), client_secret: z.string() })).default([]),
  client_secret: z.string().optional(),
  encryption_key_file: z.string().optional(),
  smtp_url: z.string().optional(),
  wait_ns: z.int().optional(),
  kind: z.enum(["a", "b"]).optional(),
  at: z.url().optional(),
  when: z.union([z.literal("*"), z.string("must be * or a name")]).optional(),
  names: z.record(z.string().regex(/^[a-z]+$/, "must be small"), z.number()).optional(),
});

/** A schema that takes everything, and returns what it got. */
const anything: StandardSchema = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) },
};

/** A schema that finds these issues in everything. */
const finding = (
  ...issues: { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] }[]
): StandardSchema => ({
  "~standard": { version: 1, vendor: "test", validate: () => ({ issues }) },
});

const withIam = (yaml: string, before = MINIMAL) => `${before}iam: ${yaml}\n`;
const problemsOf = (text: string, options: LoadServiceConfigOptions = {}) =>
  problemsWith(text, { sections: { iam }, ...options });

/** The value of `iam`, as its schema gets it. */
function received(yaml: string, variables: Readonly<Record<string, string>> = {}): unknown {
  const options = { sections: { iam: anything }, variables };
  return parseServiceConfig(withIam(yaml), "/etc/iam/service.yaml", options).sections.iam;
}

describe("a section is refused", () => {
  test.each<[string, string, string[]]>([
    ["that is a text", "x", ["6:1 iam must be a section with keys"]],
    ["that is a list", "[]", ["6:1 iam must be a section with keys"]],
    ["that is empty", "", ["6:1 iam is empty; it must be a section with keys, or absent"]],
    ["without a key that it needs", "{}", ["6:1 iam.issuer is missing"]],
    [
      "with a value of another type",
      "{issuer: a, code_digits: six}",
      ["6:18 iam.code_digits must be a number, not text"],
    ],
    [
      "with several mistakes, each at its key",
      "\n  issuer: ''\n  code_digits: 3\n  isuer: x\n  providers:\n    - {name: a}\n    - {name: 1, client_secret: b, more: c}",
      [
        "7:3 iam.issuer must not be empty",
        "8:3 iam.code_digits must be at least 6",
        '9:3 iam.isuer is not a key; did you mean "issuer"?',
        "11:7 iam.providers[0].client_secret is missing",
        '12:8 iam.providers[1].name must be text; write it in quotes, as in "${VAR}"',
        "12:35 iam.providers[1].more is not a key",
      ],
    ],
    [
      "with values that are not what the schema says, whose messages are not those of zod",
      "{issuer: a, wait_ns: 3d, kind: c, at: x, when: [], names: {A: 1}}",
      [
        "6:18 iam.wait_ns must be a whole number of nanoseconds, such as 5000000000 (5 seconds), not text",
        "6:31 iam.kind must be one of a, b",
        "6:40 iam.at must be a URL",
        "6:47 iam.when must be * or a name",
        "6:65 iam.names.A must be small",
      ],
    ],
    ["that sets a prototype", "{__proto__: {issuer: a}}", ["6:7 iam.__proto__ is not a key"]],
    [
      "that sets one far below",
      "{a: {b: {c: {d: {e: {f: {g: {h: {i: {__proto__: 1}}}}}}}}}}",
      ["6:43 iam.a.b.c.d.e.f.g.h.i.__proto__ is not a key"],
    ],
    [
      "that contains itself",
      "&iam {issuer: a, x: *iam, y: *iam}",
      ["6:23 iam.x contains itself", "6:32 iam.y contains itself"],
    ],
    [
      "whose variable is empty",
      '{issuer: "${ISSUER}"}',
      ["6:7 iam.issuer is empty: the variable ISSUER is empty"],
    ],
    [
      "whose variable is not set, but not for the text that stands there",
      '{issuer: a, code_digits: "${DIGITS}"}',
      [
        "6:31 the variable DIGITS is not set; set it, or, unless it is a secret, give it a default: ${NAME:-default}",
      ],
    ],
  ])("%s", (_, yaml, problems) => {
    const found = problemsOf(withIam(yaml), { variables: { ISSUER: "" } });
    expect(found).toEqual(problems);
    expect(found.map(redactText)).toEqual(found);
  });

  test("that is absent, and that the schema needs", () => {
    expect(problemsOf(MINIMAL)).toEqual(["1:1 iam is missing"]);
  });

  test("with all other problems of the file at once", () => {
    const text = withIam("{issuer: 1}", MINIMAL.replace("service: hub", "service: Hub"));
    expect(problemsOf(text)).toEqual([
      expect.stringContaining("1:1 service must be a name"),
      '6:7 iam.issuer must be text; write it in quotes, as in "${VAR}"',
    ]);
  });

  test.each<[string, string, string, string[]]>([
    ["of a secret", "{client_secret: hunter2}", 'was "hunter2"', ["client_secret is not valid"]],
    ["of a number", "{pass: 71077345}", "was 71077345", ["pass is not valid"]],
    ["in quotes", `{token: 'a"b'}`, 'was "a\\"b"', ["token is not valid"]],
    ["of a URL", "{at: smtp://a:hunter2@b}", "not hunter2", ["at is not valid"]],
    ["of one letter", "{secret: b}", "must be 'b'", ["secret is not valid"]],
    ["that is in a word only", "{secret: b}", "must be long", ["secret must be long"]],
    ["of no secret", "{name: hunter2}", 'was "hunter2"', ['name was "hunter2"']],
  ])("without the value %s in the message of its schema", (_, yaml, message, problems) => {
    const [key = ""] = /\w+/.exec(yaml) ?? [];
    const sections = { iam: finding({ message, path: [key] }) };
    expect(problemsOf(withIam(yaml), { sections })).toEqual(
      problems.map((problem) => `6:7 iam.${problem}`),
    );
  });

  test.each<[string, readonly (PropertyKey | { key: PropertyKey })[] | undefined, string]>([
    ["without a path", undefined, "6:1 iam must fit"],
    ["with a path of objects", [{ key: "a" }, { key: 1 }], "6:14 iam.a[1] must fit"],
    ["of what is not there", ["b", "c"], "6:1 iam.b.c must fit"],
    ["with a symbol", ["a", Symbol("x")], "6:7 iam.a.Symbol(x) must fit"],
    ["of a member of all objects", ["constructor"], "6:1 iam.constructor must fit"],
  ])("at the issue %s", (_, path, problem) => {
    const issue = path === undefined ? { message: "must fit" } : { message: "must fit", path };
    const sections = { iam: finding(issue) };
    expect(problemsOf(withIam("{a: [x, y]}"), { sections })).toEqual([problem]);
  });
});

describe("a section has", () => {
  test("what its schema returns, with its type", () => {
    const text = withIam("{issuer: https://id.example.com}");
    const { sections } = parseServiceConfig(text, "a", { sections: { iam, other: anything } });
    expect(sections).toEqual({
      iam: { issuer: "https://id.example.com", code_digits: 8, providers: [] },
      other: undefined,
    });
    expectTypeOf(sections.iam.code_digits).toEqualTypeOf<number>();
    expectTypeOf(sections.other).toEqualTypeOf<unknown>();
    // @ts-expect-error it is not declared
    expect(sections.third).toBeUndefined();
  });

  test("defaults where the file has none", () => {
    const limits = mini.prefault(mini.object({ max: mini._default(mini.number(), 3) }), {});
    const { sections } = parseServiceConfig(MINIMAL, "a", { sections: { limits } });
    expect(sections.limits.max).toBe(3);
  });

  test("nothing where none is declared", () => {
    expect(parseServiceConfig(MINIMAL, "a").sections).toEqual({});
  });

  test.each<[string, string, unknown]>([
    ["text and numbers from variables", '{a: "${X}", b: ${N}}', { a: "x", b: 5 }],
    ["aliases", "{a: &a [1], b: *a}", { a: [1], b: [1] }],
    ["files beside the configuration", "{key_file: keys/a}", { key_file: "/etc/iam/keys/a" }],
    [
      "files in lists",
      "{a: [{file: b}, {c_file: [d]}]}",
      {
        a: [{ file: "/etc/iam/b" }, { c_file: ["/etc/iam/d"] }],
      },
    ],
    ["an absolute file", "{key_file: /run/a}", { key_file: "/run/a" }],
    ["no file that is empty text", "{key_file: ''}", { key_file: "" }],
    ["no other path", "{model: a, profile: b}", { model: "a", profile: "b" }],
    [
      "keys of objects",
      "{constructor: 1, toString: {a: 1}}",
      { constructor: 1, toString: { a: 1 } },
    ],
  ])("%s", (_, yaml, value) => {
    expect(received(yaml.replace("${N}", "5"), { X: "x" })).toEqual(value);
  });

  test("checks with the others", () => {
    const check: LoadServiceConfigOptions<{ iam: typeof iam }>["checks"] = [
      ({ service }, { iam: { issuer } }) => [
        { path: ["iam", "issuer"], message: `iam.issuer ${issuer} is not that of ${service}` },
      ],
    ];
    const run = () =>
      parseServiceConfig(withIam("{issuer: x}"), "a", { sections: { iam }, checks: check });
    expect(run).toThrow("a:6:7 iam.issuer x is not that of hub");
  });
});

describe("outside development a default of a secret is refused", () => {
  const production = MINIMAL.replace("environment: development", "environment: production").replace(
    "security: {",
    "security: {authn: {gateway: {trusted_peers: [10.0.0.0/8]}}, ",
  );
  test.each([
    ["iam.client_secret", '{issuer: a, client_secret: "${S:-x}"}'],
    ["iam.client_secret", '{issuer: a, client_secret: "a${S:-x}b"}'],
    ["iam.providers[0].client_secret", 'x: [{name: a, client_secret: "${S:-x}"}]'],
    ["iam.smtp_url", '{issuer: a, smtp_url: "smtp://a:${S:-x}@b"}'],
    ["iam.smtp_url", '{issuer: a, smtp_url: "https://b/?token=${S:-x}"}'],
  ])("%s of %j", (key, yaml) => {
    const text = yaml.startsWith("x:")
      ? withIam(`{issuer: a, providers: ${yaml.slice(3)}}`, production)
      : withIam(yaml, production);
    const [problem = "", ...more] = problemsOf(text, { variables: {} });
    expect(more).toEqual([]);
    expect(problem).toContain(`${key} has the default of S, which everyone`);
    expect(redactText(problem)).toBe(problem);
    expect(problemsOf(text, { variables: { S: "other" } })).toEqual([]);
    const trial = text.replace("production", "development");
    expect(problemsOf(trial, { variables: {} })).toEqual([]);
  });

  test.each([
    ['{issuer: "${S:-https://id}"}'],
    ['{issuer: a, encryption_key_file: "${S:-key}"}'],
    ['{issuer: a, smtp_url: "smtp://a:b@${S:-c}"}'],
    ['{issuer: a, smtp_url: "https://b/?page=${S:-x}"}'],
  ])("and that of %s is not", (yaml) => {
    expect(problemsOf(withIam(yaml, production), { variables: {} })).toEqual([]);
  });

  test("nor is that of a number, such as the life of a token", () => {
    const text = withIam("\n  token_life_seconds: ${S:-300}", production);
    const { sections } = parseServiceConfig(text, "a", {
      sections: { iam: anything },
      variables: {},
    });
    expect(sections.iam).toEqual({ token_life_seconds: 300 });
  });
});

test("a section that is logged has no secrets", () => {
  expect(
    redact({ iam: received('{client_secret: "${S}", url: "x://a:b@c"}', { S: "x" }) }),
  ).toEqual({ iam: { client_secret: "***", url: "x://a:***@c" } });
});

describe("a mistake of the program is one, whatever the file has", () => {
  const asynchronous: StandardSchema = {
    "~standard": { version: 1, vendor: "test", validate: async (value) => ({ value }) },
  };
  test.each<[string, ConfigurationSections, string]>([
    [
      "the name of a built-in key",
      { log: anything },
      "sections.log has the name of a built-in key",
    ],
    ["a name with capitals", { Iam: anything }, "sections.Iam is not a name of lower-case letters"],
    ["a name with a dot", { "a.b": anything }, "sections.a.b is not a name"],
    ["the name of a prototype", { ["__proto__"]: anything }, "sections.__proto__ is not a name"],
    ["no schema", { iam: {} as StandardSchema }, "sections.iam is not a Standard Schema"],
    ["nothing", { iam: undefined as unknown as StandardSchema }, "is not a Standard Schema"],
    ["an asynchronous schema", { iam: asynchronous }, "sections.iam validates asynchronously"],
  ])("%s", (_, sections, why) => {
    const run = () => parseServiceConfig(MINIMAL, "a", { sections });
    expect(run).toThrow(TypeError);
    expect(run).toThrow(why);
  });
});

describe("a key that is not declared", () => {
  const file = join(folder, "service.yaml");

  test.each([
    ["isuer: {}", 'isuer is not a key; did you mean "issuer"?'],
    ["datbase: {}", 'datbase is not a key; did you mean "database"?'],
    ["third: {}", "third is not a key; known keys are environment, service,"],
  ])("is refused when the service starts: %s", (line, why) => {
    writeFileSync(file, `${MINIMAL}${line}\n`);
    expect(() => loadServiceConfig(file, { sections: { issuer: anything } })).toThrow(why);
  });

  test("is ignored by the commands of operators if it is a section", async () => {
    writeFileSync(file, withIam('{issuer: 1, client_secret: "${SVC_ACCESS_NONE:-x}"}'));
    expect((await readConfig(file)).service).toBe("hub");
  });

  test.each([
    ["iam:", "iam is not a key"],
    ["iam: text", "iam is not a key"],
    ["iam: []", "iam is not a key"],
    ["Iam: {}", "Iam is not a key"],
    ["__proto__: {}", "__proto__ is not a key"],
    ["log: {levl: info}", "log.levl is not a key"],
  ])("and is refused by them if it is none: %s", async (line, why) => {
    writeFileSync(file, `${MINIMAL}${line}\n`);
    await expect(readConfig(file)).rejects.toThrow(why);
  });
});
