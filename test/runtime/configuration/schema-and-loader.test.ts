/** The JSON Schema, which editors use for completion and checks, agrees with the loader. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import ajvFormats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withAddresses } from "../../../src/runtime/configuration/listen-addresses.ts";
import { parseServiceConfig } from "../../../src/runtime/configuration/load-service-config.ts";
import { serviceConfigSchema } from "../../../src/runtime/configuration/service-config.ts";
import { redactText } from "../../../src/runtime/logging/redaction/redact-text.ts";
import { runs } from "../../support/effort.ts";
import { ROOT } from "../../support/workspace.ts";
import { fullService, problemsOf, serviceWith } from "./sample.ts";

/** The parts of a JSON Schema that the tests read. */
interface Schema {
  readonly default?: unknown;
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

const schema: Schema = JSON.parse(readFileSync(join(ROOT, "schemas/service.schema.json"), "utf8"));
const ajv = new Ajv({ strict: false, allErrors: true });
ajvFormats.default(ajv);
const validate = ajv.compile(schema);

/** The paths of a configuration, with the first item of lists, each with its schema. */
function* places(
  { properties, items, anyOf }: Schema,
  at: readonly string[] = [],
): Iterable<Place> {
  for (const [key, part] of Object.entries(properties ?? {})) {
    yield { path: [...at, key], part };
    yield* places(part, [...at, key]);
  }
  if (items !== undefined) {
    yield { path: [...at, "0"], part: items };
    yield* places(items, [...at, "0"]);
  }
  for (const one of anyOf ?? []) yield* places(one, at);
}

test("security has the keys of the platform [CONF-5]", () => {
  const below = (section: string, keys: string) =>
    keys.split(" ").map((key) => `security.${section}.${key}`);
  const oidc = "provider issuer discovery_url jwks_url audience allowed_owners allowed_algs";
  const keys = [
    ...below("authn", "enabled mode provider cache_ttl_ns"),
    ...below("authn.oidc", `${oidc} jwks_cache_ttl_ns clock_skew_ns`),
    ...below(
      "authn.casdoor",
      "endpoint organization_name application_name client_id client_secret",
    ),
    ...below("authn.internal_call", "enabled header token"),
    ...below("authz", "enabled provider dev_allow_all"),
    ...below("authz.spicedb", "endpoint token transport insecure"),
  ];
  expect(PLACES.map(({ path }) => path.join("."))).toEqual(expect.arrayContaining(keys));
});

interface Place {
  readonly path: readonly string[];
  readonly part: Schema;
}

const PLACES = [...places(schema)];

/** A configuration has one engine only; the schema has the sections of all. */
function everyKey() {
  const config = fullService();
  const iam = {
    endpoint: "iam:19080",
    token: "SECRET-internal-token",
    insecure: false,
    ca_file: "iam-ca.pem",
    certificate_file: "iam-client.pem",
    key_file: "iam-client.key",
  };
  return { ...config, security: { ...config.security, authz: { ...config.security.authz, iam } } };
}

test("the sample of these tests has every key of the schema", () => {
  const config = everyKey();
  const missing = PLACES.filter(({ path }) => valueAt(config, path) === undefined);
  // SQLite has no URL, and a file replaces the secret itself.
  expect(missing.map(({ path }) => path.join("."))).toEqual([
    "security.authn.internal_call.token.0.token_file",
    "security.authn.internal_call.token_file",
    "security.authn.internal_call.system_token_file",
    "security.authn.internal_call.system_token_file.0",
    "security.authn.revocation.token_file",
    "security.authz.spicedb.token_file",
    "security.authz.iam.token_file",
    "database.file",
    "database.password_file",
    "registry.etcd.password_file",
  ]);
});

describe("a number out of its limits has one line, which names the limit that holds [CONF-1]", () => {
  const numbers = PLACES.flatMap(({ path, part: { anyOf = [] } }) =>
    anyOf.filter(({ type }) => type === "integer").map((part) => ({ key: path.join("."), part })),
  );
  test.each(numbers)("$key", ({ key, part: { minimum = Number.NaN, maximum = Number.NaN } }) => {
    for (const value of [minimum - 1, -1e30]) {
      const problem = expect.stringMatching(new RegExp(`at least ${minimum}(?: |$)`));
      expect(problemsOf(serviceWith(key, value)), `${value}`).toEqual([problem]);
    }
    for (const value of [maximum + 1, 2 ** 53, 1e30]) {
      const problem = expect.stringMatching(new RegExp(`at most ${maximum}(?: |$)`));
      expect(problemsOf(serviceWith(key, value)), `${value}`).toEqual([problem]);
    }
  });
});

const ANY_VALUE = fc.constantFrom<unknown>(
  ...[undefined, null, true, false, 0, 1, -1, 1.5, 5, 999_999, 1e6, 1e15, 1.728e15, 1.729e15, 1e20],
  ...[
    "",
    " ",
    "a",
    "A",
    "a b",
    "a\n",
    "a\u0000",
    "é",
    "😀",
    "a.b",
    "a_b",
    "-a",
    "a/b",
    "/a",
    "/a?b",
  ],
  ...[
    "a:1",
    "a:0",
    "a:00",
    "a:65535",
    "a:65536",
    "a:99999",
    "[::1]:1",
    ":1",
    "localhost",
    "1.2.3.4",
  ],
  ...["http://a", "HTTPS://a", "https://a:65535/", "http:a", "http:/a", "http://", "http://a b"],
  ...["http://[::1]:1/x?y#z", "https://u@h", "https://u:p@h", "http://é.com", "http://a/%zz"],
  ...[" http://a", "http://a ", "https://a\\b", "http://?x", "https://a?b@c", "javascript:a"],
  ...["postgres://a", "postgresql://a:b@c/d", "postgres:a", "postgres:///d?host=/run", "mysql://a"],
  ...[15, 16, 63, 64, 253, 254, 256, 257, 1023, 1024, 4096, 4097].map((count) => "x".repeat(count)),
  ...["info", "RS256", "HS256", "sqlite", "postgres", "hybrid", "grpc", "X-Token", "X_Token"],
  ...[[], ["a"], ["", "a"], [1], [null], ["http://a"], ["https://a.b"], ["*"], ["RS256"], ["/x"]],
  ...[Array(16).fill("http://a"), Array(17).fill("http://a"), Array(257).fill("/a")],
  ...[{}, { a: 1 }, [{}], [{ service: "a", token: "0123456789abcdef" }]],
);

const ANY_CHANGE = fc.record({ place: fc.constantFrom(...PLACES), value: ANY_VALUE });

/** The full configuration with values replaced, or removed if undefined. */
const ANY_CONFIG = fc.array(ANY_CHANGE, { minLength: 1, maxLength: 3 }).map((changes) => {
  const config: unknown = everyKey();
  for (const { place, value } of changes) {
    const parent = valueAt(config, place.path.slice(0, -1));
    if (typeof parent !== "object" || parent === null) continue;
    const key = place.path.at(-1) as string;
    if (value !== undefined) (parent as Record<string, unknown>)[key] = value;
    else if (!Array.isArray(parent)) delete (parent as Record<string, unknown>)[key];
  }
  return config;
});

describe("the schema for editors", () => {
  test("accepts and refuses the same values as the loader [CONF-4]", () => {
    fc.assert(
      fc.property(ANY_CONFIG, (config) => {
        // As the loader, without its checks across sections, which no schema has.
        const { success, error } = serviceConfigSchema.safeParse(withAddresses(config, {}));
        const said = `${ajv.errorsText(validate(config) ? [] : validate.errors)} / ${error?.message}`;
        expect(validate(config), said).toBe(success);
      }),
      { numRuns: runs(10_000, 500) },
    );
  });

  test.each(["http", "grpc", "metrics"] as const)(
    "accepts a null server.%s as the loader",
    (name) => {
      const config = fullService();
      const given = { ...config, server: { ...config.server, [name]: null } };
      expect(validate(given), ajv.errorsText(validate.errors)).toBe(true);
      const { server } = parseServiceConfig(JSON.stringify(given), "service.yaml").config;
      expect(server).not.toHaveProperty(name);
    },
  );

  test.each(
    PLACES.filter(({ part }) => part.default !== undefined).map(
      ({ path, part }) => [path.join("."), path, part.default] as const,
    ),
  )("says of %s the default that the loader has", (_, path, otherwise) => {
    const config = everyKey();
    const parent = valueAt(config, path.slice(0, -1)) as Record<string, unknown>;
    delete parent[path.at(-1) as string];
    if (path.join(".") === "database.driver") {
      (parent as object as { file: string }).file = "a.db";
      delete parent["url"];
    }
    const parsed = serviceConfigSchema.parse(config);
    // An absent section has the defaults of its keys.
    expect(valueAt(parsed, path)).toMatchObject(otherwise as object);
  });

  test.each([
    ["server.http.adress", "a:1"],
    ["security.authn.mode", "none"],
    ["security.authn.internal_call.token", "short"],
    ["security.authn.oidc.issuer", "id.example.com"],
    ["security.authn.oidc.issuer", "https://u:p@id.example.com"],
    ["server.grpc.address", "0.0.0.0:70000"],
    ["security.authz.spicedb.endpoint", "spicedb:70000"],
    ["database.url", undefined],
    ["database.file", "a.db"],
    ["registry.etcd.username", undefined],
    ["registry.etcd.key_file", undefined],
    ["log.level", 1],
    ["service", undefined],
  ])("refuses %s of %j, as the loader does", (place, value) => {
    const text = serviceWith(place, value);
    expect(validate(JSON.parse(text))).toBe(false);
    expect(problemsOf(text)).not.toEqual([]);
  });
});

test("the schema for editors takes sections of the service's own, and no other keys", () => {
  expect(validate({ ...fullService(), iam: { issuer: "https://id.example.com" } })).toBe(true);
  for (const value of [null, "x", 1, []])
    expect(validate({ ...fullService(), iam: value })).toBe(false);
});

describe("the messages of the loader", () => {
  test("stay complete when secrets are redacted", () => {
    fc.assert(
      fc.property(ANY_CONFIG, (config) => {
        const text = textOf(config);
        for (const problem of text === undefined ? [] : problemsOf(text)) {
          expect(redactText(problem)).toBe(problem);
        }
      }),
      { numRuns: runs(1000, 50) },
    );
  });

  test.each([
    ["security.authn.internal_call.system_token", "${SYSTEM_TOKEN}"],
    ["security.authn.internal_call.token[0].token", "${SYSTEM_TOKEN-x}"],
    ["security.authz.spicedb.token", 12345678],
  ])("also of %s that is %j", (place, value) => {
    const problems = problemsOf(serviceWith(place, value));
    expect(problems).toHaveLength(1);
    expect(problems.map(redactText)).toEqual(problems);
  });
});

/** Undefined for what no file can express: a value that is moved may contain itself. */
function textOf(config: unknown): string | undefined {
  try {
    return JSON.stringify(config);
  } catch {
    return undefined;
  }
}

/** The paths of all values that are neither lists nor in a list. */
const LEAVES = [...leaves(fullService())];

describe("a variable", () => {
  test("may replace every value, in the schema and in the loader", () => {
    const full = parseServiceConfig(blockYaml(fullService()), "a.yaml", { variables: {} });
    fc.assert(
      fc.property(fc.subarray(LEAVES, { minLength: 1 }), (chosen) => {
        const config = fullService();
        const variables: Record<string, string> = {};
        for (const [index, path] of chosen.entries()) {
          const parent = valueAt(config, path.slice(0, -1)) as Record<string, unknown>;
          const key = path.at(-1) as string;
          const value = parent[key];
          variables[`V${index}`] = String(value);
          parent[key] = new Reference(`\${V${index}}`, typeof value === "string");
        }
        expect(validate(JSON.parse(JSON.stringify(config))), ajv.errorsText(validate.errors)).toBe(
          true,
        );
        const text = blockYaml(config);
        expect(parseServiceConfig(text, "a.yaml", { variables })).toEqual(full);
      }),
      { numRuns: runs(1000, 50) },
    );
  });

  test("is inserted literally, whatever it contains", () => {
    const secrets = fc.array(
      fc.constantFrom("$", "{", "}", "${A}", ":-", "#", "*", "'", '"', "a"),
      {
        minLength: 16,
        maxLength: 40,
      },
    );
    fc.assert(
      fc.property(
        secrets.map((parts) => parts.join("")),
        (token) => {
          const text = serviceWith("security.authn.internal_call.system_token", "${T}");
          const { config } = parseServiceConfig(text, "a.yaml", {
            variables: { T: token, A: "x" },
          });
          expect(config.security.authn.internal_call.system_token).toBe(token);
        },
      ),
      { numRuns: runs(1000, 50) },
    );
  });
});

/** A reference instead of a value; in quotes for a text. */
class Reference {
  readonly text: string;
  readonly isText: boolean;

  constructor(text: string, isText: boolean) {
    this.text = text;
    this.isText = isText;
  }

  toJSON(): string {
    return this.text;
  }
}

/** YAML as people write it, with one key per line. */
function blockYaml(value: unknown, indent = ""): string {
  if (value instanceof Reference) return value.isText ? ` "${value.text}"\n` : ` ${value.text}\n`;
  if (typeof value !== "object" || value === null) return ` ${JSON.stringify(value)}\n`;
  const lines = Object.entries(value).map(([key, item]) => {
    const mark = Array.isArray(value) ? "-" : `${key}:`;
    return `${indent}${mark}${blockYaml(item, `${indent}  `)}`;
  });
  return `\n${lines.join("")}`;
}

function* leaves(value: unknown, path: readonly string[] = []): Iterable<readonly string[]> {
  if (typeof value !== "object" || value === null) return yield path;
  for (const [key, item] of Object.entries(value)) yield* leaves(item, [...path, key]);
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (node, key) => (node as Record<string, unknown> | undefined | null)?.[key],
    value,
  );
}
