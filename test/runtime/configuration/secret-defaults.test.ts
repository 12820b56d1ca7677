import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parseServiceConfig } from "../../../src/runtime/configuration/load-service-config.ts";
import { redactText } from "../../../src/runtime/logging/redaction/redact-text.ts";
import { loadServiceConfig } from "../../../src/runtime/server/load-configuration.ts";
import { fullService, problemsOf, serviceWith } from "./sample.ts";

const PRINTED = "token-of-the-hub-in-development";
/** Every secret key of the configuration, with a reference that has a default in the file. */
const SECRETS: [place: string, value: unknown, key: string][] = [
  ["security.authn.internal_call.token", `\${S:-${PRINTED}}`, ""],
  [
    "security.authn.internal_call.token",
    [{ service: "hub", token: `\${S:-${PRINTED}}` }],
    "security.authn.internal_call.token[0].token",
  ],
  [
    "security.authn.internal_call.token",
    [
      { service: "hub", token: PRINTED },
      { service: "hub", token: `prefix-\${S:-${PRINTED}}` },
    ],
    "security.authn.internal_call.token[1].token",
  ],
  ["security.authn.internal_call.system_token", `\${S:-${PRINTED}}`, ""],
  [
    "security.authn.internal_call.system_token",
    ["", `\${S:-${PRINTED}}`],
    "security.authn.internal_call.system_token[1]",
  ],
  ["security.authn.casdoor.client_secret", "${S:-x}", ""],
  ["security.authz.spicedb.token", "${S:-x}", ""],
  ["database.url", "${S:-postgres://a:b@c/d}", ""],
  ["database.url", "postgres://a:${S:-b}@c/d", ""],
  ["database.url", "postgres://a:x${S:-b}y@c/d", ""],
  ["database.url", "postgres://a${S:-:b@c}/d", ""],
  ["database.url", "postgres://a:b@${S:-c@d}/e", ""],
  ["database.url", "postgres://c/d?password=${S:-x}", ""],
  ["database.url", "postgres://c/d?user=a&pass%77ord=${S:-x}", ""],
  ["database.url", "postgres://c/d?${S:-password=x}", ""],
  ["database.url", "postgres://c/d?sslmode=disable&options=x${S:-y}", ""],
  ["registry.etcd.password", "${S:-x}", ""],
];
const inEnvironment = (name: string, text: string) => text.replace('"staging"', `"${name}"`);
const CASES = SECRETS.map(([place, value, key]) => [key || place, place, value] as const);

describe("outside development a secret with a default in the file is refused [CONF-2]", () => {
  test.each(CASES)("%s", (key, place, value) => {
    const text = serviceWith(place, value);
    for (const environment of [
      "production",
      "prod",
      "staging",
      "dev",
      "Development".toLowerCase(),
    ]) {
      for (const variables of [{}, { S: "" }]) {
        const found = problemsOf(inEnvironment(environment, text), { variables });
        if (environment === "development") {
          expect(found).toEqual([]);
          continue;
        }
        expect(found).toHaveLength(1);
        const [problem = ""] = found;
        expect(problem).toMatch(/^\d+:\d+ /);
        expect(problem.replace(/^\d+:\d+ /, "")).toContain(`${key} has the default of S, `);
        expect(problem).toContain("set S, and write ${S} without a default");
        expect(problem).toContain(`environment ${environment}`);
        expect(problem).not.toContain(PRINTED);
        expect(redactText(problem)).toBe(problem);
      }
    }
    expect(problemsOf(inEnvironment("test", text), { variables: {} })).toEqual([]);
  });

  test.each(CASES)("%s is accepted if the variable is set", (_key, place, value) => {
    const secret =
      place === "database.url" && `${value}`.startsWith("${")
        ? "postgres://c/d"
        : `${value}`.includes("?${")
          ? "password=other"
          : "other-token-0123456789";
    expect(problemsOf(serviceWith(place, value), { variables: { S: secret } })).toEqual([]);
  });

  test("all of them at once, each at its position", () => {
    const config = fullService();
    config.security.authn.internal_call.token = [
      { service: "hub", token: "${A:-0123456789abcdef}" },
    ];
    config.security.authz.spicedb.token = "${B:-x}";
    config.registry.etcd.password = "${C:-x}";
    const found = problemsOf(JSON.stringify(config, undefined, 1), { variables: {} });
    expect(found.map((problem) => /default of (\w)/.exec(problem)?.[1])).toEqual(["A", "B", "C"]);
    expect(new Set(found.map((problem) => problem.split(" ")[0])).size).toBe(3);
  });

  test("one in an alias", () => {
    const text = `environment: production
service: &name \${S:-hub-hub-hub-hub-hub}
server: {http: {address: "127.0.0.1:1"}}
security:
  authn:
    internal_call:
      token: *name
`;
    expect(problemsOf(text, { variables: {} })).toEqual([
      expect.stringMatching(/^7:7 security\.authn\.internal_call\.token has the default of S/),
    ]);
  });

  test.each([
    ["an empty default", { place: "registry.etcd.password", value: "x${S:-}y" }],
    [
      "a default of a value that is not a secret",
      { place: "registry.etcd.username", value: "${S:-iam}" },
    ],
    ["a default in the path of a file", { place: "registry.etcd.ca_file", value: "${S:-ca.pem}" }],
    ["two dollar signs", { place: "registry.etcd.password", value: "$${S:-x}" }],
    ...[
      "postgres://notes@${S:-db}/notes",
      "postgres://notes@${S:-db:5432}/notes",
      "postgres://${S:-notes}:password@db/notes",
      "postgres://notes:password@${S:-db}/notes",
      "postgres://notes:password@db:${S:-5432}/notes",
      "postgres://notes:password@db/${S:-notes}",
      "postgres://notes:password@db/notes?sslmode=${S:-verify-full}",
      "postgres://notes@db/notes?password=x&host=${S:-db}",
      "${S:-postgres://notes@db/notes}",
      "${S:-postgres}://notes:password@db/notes",
    ].map((value): [string, { place: string; value: string }] => [
      `a default beside the password, as in ${value},`,
      { place: "database.url", value },
    ]),
  ])("%s is taken", (_name, { place, value }) => {
    expect(problemsOf(serviceWith(place, value), { variables: {} })).toEqual([]);
  });
});

describe("secrets in files that are read at the start [CONF-2]", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-access-secret-files-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "good"), "p@ss/w:rd%41 ä\n");
  writeFileSync(join(folder, "token"), "a-preshared-key\n");
  writeFileSync(join(folder, "empty"), "\n");

  const withFiles = (spicedb: string, password: string, etcd: string) => {
    const config = fullService();
    const { token: _token, ...others } = config.security.authz.spicedb;
    const { password: _password, ...registry } = config.registry.etcd;
    return JSON.stringify({
      ...config,
      security: {
        ...config.security,
        authz: { ...config.security.authz, spicedb: { ...others, token_file: spicedb } },
      },
      database: { driver: "postgres", url: "postgres://iam@db:5432/iam", password_file: password },
      registry: { etcd: { ...registry, password_file: etcd } },
    });
  };

  test("are inserted, with paths relative to the configuration", () => {
    const text = withFiles("token", "good", "good");
    const { config } = parseServiceConfig(text, join(folder, "service.yaml"), {});
    expect(config.security.authz.spicedb?.token).toBe("a-preshared-key");
    expect(config.registry?.etcd.password).toBe("p@ss/w:rd%41 ä");
    const url = new URL(config.database?.url as string);
    expect(decodeURIComponent(url.password)).toBe("p@ss/w:rd%41 ä");
    expect(url.host).toBe("db:5432");
  });

  test("a URL whose password is in a file may have a default for its host", () => {
    const text = withFiles("token", "good", "good").replace("@db:5432", "@${DB_HOST:-db}:5432");
    const { config } = parseServiceConfig(text, join(folder, "service.yaml"), { variables: {} });
    expect(config.environment).toBe("staging");
    expect(new URL(config.database?.url as string).host).toBe("db:5432");
  });

  test("prevent the start if they are invalid, each with its key", () => {
    const text = withFiles("empty", "nowhere", ".");
    expect(() => parseServiceConfig(text, join(folder, "service.yaml"), {})).toThrow(
      expect.objectContaining({
        problems: expect.arrayContaining([
          expect.stringContaining(
            `security.authz.spicedb.token_file (${join(folder, "empty")}) is empty`,
          ),
          expect.stringContaining(
            `database.password_file (${join(folder, "nowhere")}) does not exist`,
          ),
          expect.stringMatching(/registry\.etcd\.password_file \(.*\) is not a file/),
        ]),
      }),
    );
  });

  test.each([
    ["security.authz.spicedb.token_file", "token", "must have either token or token_file"],
    ["security.authz.spicedb.token", undefined, "must have either token or token_file"],
    ["registry.etcd.password_file", "good", "must have password or password_file, and not both"],
    ["database.password_file", "good", "must be absent if url has the password"],
    [
      "security.authn.internal_call.token[0].token_file",
      "token",
      "must have either token or token_file",
    ],
    [
      "security.authn.internal_call.token[0].token",
      undefined,
      "must have either token or token_file",
    ],
  ])("%s: %s beside the others is refused", (place, value, why) => {
    expect(problemsOf(serviceWith(place, value))).toContainEqual(expect.stringContaining(why));
  });

  test.each([
    ["empty", "is empty"],
    ["nowhere", "does not exist"],
    [".", "is not a file"],
    ["token", "has 15 characters; a secret needs at least 16"],
    ["good", "has characters that a header cannot carry"],
  ])("an internal token in %s keeps the service from starting", (file, why) => {
    const text = `environment: production
service: hub
server: {http: {address: "127.0.0.1:1"}}
security:
  authn:
    gateway: {trusted_peers: [10.0.0.0/8]}
    internal_call:
      enabled: true
      token:
        - service: hub
          token_file: ${file}
`;
    const path = join(folder, "service.yaml");
    writeFileSync(path, text);
    const key = "security.authn.internal_call.token[0].token_file";
    const problem = `${path}:11:11 ${key} (${join(folder, file)}) ${why}`;
    try {
      loadServiceConfig(path);
      expect.unreachable();
    } catch (error) {
      const { problems } = error as { problems: string[] };
      expect(problems).toEqual([expect.stringContaining(problem)]);
      expect(redactText(problems[0] as string)).toBe(problems[0]);
    }
  });
});
