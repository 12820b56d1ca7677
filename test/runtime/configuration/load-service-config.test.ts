import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ConfigurationError } from "../../../src/runtime/configuration/configuration-error.ts";
import {
  loadServiceConfig,
  parseServiceConfig,
} from "../../../src/runtime/configuration/load-service-config.ts";
import { ROOT } from "../../support/workspace.ts";
import { fullService, MINIMAL, problemsOf, serviceWith } from "./sample.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (content: string | Uint8Array) => {
  const file = join(folder, "service.yaml");
  writeFileSync(file, content);
  return file;
};

describe("a file that is not a configuration", () => {
  test.each([
    ["of UTF-16", Buffer.from(`\ufeff${MINIMAL}`, "utf16le"), "is not UTF-8 text"],
    ["of Latin-1", Buffer.from("service: caf\xe9\n", "latin1"), "is not UTF-8 text"],
    ["of noise", Buffer.from([0x80, 0xff, 0x00, 0xc3]), "is not UTF-8 text"],
    ["of nothing", "", "the file is empty"],
    ["of a comment", "# later\n", "the file is empty"],
    ["of a list", "- a\n", "the file must contain keys and values"],
    ["of NUL", "service: \0\n", "service.yaml:1:"],
    ["of 5 MB", `service: ${"x".repeat(5 * 1024 * 1024)}`, "the file has more than 4 MB"],
  ])("%s is refused", (_, content, why) => {
    const file = write(content);
    expect(() => loadServiceConfig(file, { variables: {} })).toThrow(ConfigurationError);
    expect(() => loadServiceConfig(file, { variables: {} })).toThrow(why);
  });

  test("is named if it does not exist or is a folder", () => {
    expect(() => loadServiceConfig("/no/such.yaml")).toThrow(
      "/no/such.yaml does not exist; name the configuration file",
    );
    expect(() => loadServiceConfig("such.yaml")).toThrow(
      `such.yaml does not exist in ${process.cwd()}; name the configuration file`,
    );
    expect(() => loadServiceConfig(folder)).toThrow("cannot be read (EISDIR)");
    // Rights would not help.
    expect(() => loadServiceConfig(join(import.meta.filename, "a.yaml"))).toThrow(
      /cannot be read \(ENOTDIR\); a part of its path is a file: name the configuration file$/,
    );
  });

  test("with aliases that grow exponentially is refused at once", () => {
    const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    const lines = names.map((name, index) => {
      const of = index === 0 ? "x" : `*${names[index - 1]}`;
      return `${name}: &${name} [${Array(9).fill(of).join(", ")}]`;
    });
    // Expanded, it has a billion entries, which would exhaust the memory.
    expect(problemsOf(`${lines.join("\n")}\n${MINIMAL}`)).toEqual([
      expect.stringContaining("excessive alias count"),
    ]);
  });

  test("with an alias within itself is refused", () => {
    expect(problemsOf(`server: &s {http: *s}\n`)).not.toEqual([]);
  });

  test("with thousands of levels is refused", () => {
    expect(problemsOf(`service: ${"[".repeat(3000)}`)).not.toEqual([]);
    const levels = `service: ${"[".repeat(20_000)}${"]".repeat(20_000)}\n`;
    expect(problemsOf(levels).join("\n")).toContain("is nested too deeply");
  });

  test("with a reference in braces without quotes is refused, and the error names the missing quotes", () => {
    expect(problemsOf(`${MINIMAL}log: {level: \${LEVEL}}\n`)[0]).toBe(
      '6:15 unexpected flow-map-start at node end; inside { } and [ ] a reference must be in quotes, as in "${VAR}"',
    );
  });

  test.each([
    ["__proto__: {polluted: true}\n", "1:1 __proto__ is not a key"],
    ["log: {__proto__: {level: debug}}\n", "1:7 log.__proto__ is not a key"],
    ["server: {http: {address: 'a:1', __proto__: {}}}\n", "server.http.__proto__ is not a key"],
    ["constructor: {prototype: {polluted: true}}\n", "constructor is not a key"],
    ["prototype: 1\n", "prototype is not a key"],
    ["toString: 1\n", "toString is not a key"],
    ["<<: {service: x}\n", "<< is not a key: YAML 1.2 has no merge keys"],
  ])("with the key of %j is refused", (line, why) => {
    const text = line.includes("server") ? line : `${line}${MINIMAL}`;
    expect(problemsOf(text).join("\n")).toContain(why);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("with a duplicate key is refused at the position of the second", () => {
    expect(problemsOf(`${MINIMAL}service: other\n`)).toEqual(["6:1 map keys must be unique"]);
  });
});

describe("a value", () => {
  test.each([
    ["environment", undefined, "environment is missing"],
    ["environment", "Prod", "environment must be a name"],
    ["environment", "a/b", "environment must be a name"],
    ["service", undefined, "service is missing"],
    ["service", "hub/x", "service must be a name"],
    ["server", undefined, "server is missing"],
    ["server", null, "server is empty; it must be a section with keys, or absent"],
    ["server.htp", {}, 'server.htp is not a key; did you mean "http"?'],
    ["server.http.address", "18080", "server.http.address must be host:port"],
    ["server.http.address", ":18080", "server.http.address must be host:port"],
    ["server.http.address", "0.0.0.0:99999", "with a port of at most 65535"],
    ["server.http.address", 18080, "server.http.address must be text; write it in quotes"],
    ["server.http.timeout_ns", 5, "must be nanoseconds, at least 1000000"],
    ["server.http.timeout_ns", 1.5, "server.http.timeout_ns must be a whole number"],
    [
      "server.http.timeout_ns",
      "5s",
      "timeout_ns must be a whole number of nanoseconds, such as 5000000000 (5 seconds), not text",
    ],
    ["server.http.timeout_ns", 9e15, "at most 1728000000000000 nanoseconds (20 days)"],
    ["server.http.max_body_bytes", 0, "server.http.max_body_bytes must be at least 1"],
    ["server.max_message_elements", 999, "server.max_message_elements must be at least 1000"],
    [
      "server.max_message_elements",
      2 ** 30,
      "server.max_message_elements must be at most 16777216",
    ],
    ["server.max_message_elements", 5e3 + 0.5, "max_message_elements must be a whole number"],
    ...["age", "age_grace", "idle"].flatMap((time) =>
      ["http", "grpc"].map((name): [string, unknown, string] => [
        `server.${name}.max_connection_${time}_ns`,
        999_999,
        `server.${name}.max_connection_${time}_ns must be nanoseconds, at least 1000000`,
      ]),
    ),
    ["server.http.cors.allowed_origins", ["*"], "allowed_origins[0] must be an origin"],
    ["server.http.cors.allowed_origins", ["null"], "allowed_origins[0] must be an origin"],
    ["server.http.cors.allowed_origins", ["https://a.b/"], "allowed_origins[0] must be an origin"],
    ["server.http.cors.allowed_origins", ["https://*.b"], "allowed_origins[0] must be an origin"],
    ["server.http.tls.key_file", undefined, "server.http.tls.key_file is missing"],
    ["server.http.tls.key_file", "a\u0000b", "without control characters"],
    ["server.metrics.path", "metrics", 'must be a path that starts with "/"'],
    [
      "security.authn.mode",
      "none",
      "security.authn.mode must be one of gateway_trusted, idp_jwt, hybrid, disabled",
    ],
    ["security.authn.oidc.issuer", "id.example.com", "must be an http or https URL"],
    ["security.authn.oidc.issuer", "javascript:alert(1)", "must be an http or https URL"],
    ["security.authn.oidc.issuer", "https://u:p@id", "must not contain a user or a password"],
    ["security.authn.oidc.audience", [], "security.authn.oidc.audience must have at least 1 item"],
    ["security.authn.oidc.audience", "x", "security.authn.oidc.audience must be a list, not text"],
    ["security.authn.oidc.allowed_algs", ["HS256"], "allowed_algs[0] must be one of RS256"],
    ["security.authn.oidc.allowed_algs", ["none"], "allowed_algs[0] must be one of RS256"],
    ["security.authn.oidc.clock_skew_ns", 1e15, "clock_skew_ns must be at most 600000000000"],
    ["security.authn.internal_call.header", "X Token", "must be the name of a header"],
    ["security.authn.internal_call.token", "short", "token must have at least 16 characters"],
    ["security.authn.internal_call.token", "", "token must have at least 16 characters"],
    [
      "security.authn.internal_call.token",
      12345678901234,
      "must be text or a list; write it in quotes",
    ],
    ["security.authn.internal_call.token", {}, "must be text or a list"],
    [
      "security.authn.internal_call.token",
      [{ service: "a" }],
      "must have either token or token_file",
    ],
    [
      "security.authn.internal_call.token",
      [{ service: "a", token: "x" }],
      "token[0].token must have at least 16",
    ],
    ["security.authn.internal_call.token", [{ servce: "a" }], 'did you mean "service"?'],
    ["security.authn.internal_call.system_token", "with a space, long", "printable ASCII"],
    ["security.authz.provider", "opa", "security.authz.provider must be one of embedded, spicedb"],
    ["security.authz.spicedb.endpoint", "http://spicedb:1", "must be host:port"],
    ["database.url", "mysql://a:b@c/d", "must be a URL that starts with postgres://"],
    ...["u:p#SECRET@h/db", "u:p@SECRET/x@h y/db", "u:SECRET@h:port/db", "u:p SECRET@h/db"].map(
      (rest): [string, unknown, string] => [
        "database.url",
        `postgres://${rest}`,
        "database.url must be written as postgres://user@host:port/database, with special characters percent-encoded, such as %23 for # and %40 for @ in a password",
      ],
    ),
    ["database.url", undefined, "database.url must be given with postgres"],
    ["database.driver", "sqlite", "database.file must be given with sqlite"],
    ["database.max_open_conns", 0, "database.max_open_conns must be at least 1"],
    ["log.level", "verbose", "log.level must be one of trace, debug"],
    ["log.level", "inf", 'did you mean "info"?'],
    ["access_log.enabled", "no", "access_log.enabled must be true or false, not text"],
    [
      "access_log.enabled",
      null,
      "access_log.enabled is empty; it must be true or false, or absent",
    ],
    [
      "access_log.slow_threshold_ns",
      "",
      "must be a whole number of nanoseconds, such as 5000000000 (5 seconds), not empty text",
    ],
    ["registry.etcd.password", "", "registry.etcd.password must not be empty; give it as ${VAR}"],
    [
      "registry.etcd.username",
      "x".repeat(257),
      "registry.etcd.username must have at most 256 characters",
    ],
    ["access_log.skip_paths", ["healthz"], 'skip_paths[0] must be a path that starts with "/"'],
    ["access_log.skip_path", [], 'did you mean "skip_paths"?'],
    ["registry.etcd.endpoints", [], "registry.etcd.endpoints must have at least 1 item"],
    ["registry.etcd.endpoints", ["etcd:2379"], "must be an http or https URL"],
    [
      "registry.etcd.endpoints",
      ["http://u:SECRET-x@etcd"],
      "must not contain a user or a password",
    ],
    ["registry.etcd.lease_ttl_seconds", 1, "lease_ttl_seconds must be at least 5"],
  ])("of %s that is %j is refused", (place, value, why) => {
    const problems = problemsOf(serviceWith(place, value));
    expect(problems.join("\n")).toContain(why);
    expect(problems[0]).toMatch(/^\d+:\d+ /);
    if (why === "must be an http or https URL") expect(problems).toHaveLength(1);
    expect(problems.join("\n")).not.toContain("SECRET");
  });

  test("is reported at its position, and all of them at once [CONF-1]", () => {
    const text = [
      "service: Hub",
      "servce: x",
      "server:",
      "  http:",
      "    adress: 0.0.0.0:1",
      "    timeout_ns: ten",
      "log:",
      "  level: ${LEVEL}",
      "environment: test",
    ].join("\n");
    const error = thrown(() => parseServiceConfig(text, "conf/hub.yaml", { variables: {} }));
    expect(error.message.split("\n")).toEqual([
      "the configuration conf/hub.yaml has 6 problems:",
      "conf/hub.yaml:1:1 service must be a name of lower-case letters, digits, - and .",
      'conf/hub.yaml:2:1 servce is not a key; did you mean "service"?',
      "conf/hub.yaml:4:3 server.http.address is missing",
      'conf/hub.yaml:5:5 server.http.adress is not a key; did you mean "address"?',
      expect.stringContaining("conf/hub.yaml:6:5 server.http.timeout_ns must be"),
      "conf/hub.yaml:8:10 the variable LEVEL is not set; set it, or, unless it is a secret, give it a default: ${NAME:-default}",
    ]);
  });

  test("that is a literal dollar sign and brace is validated as text", () => {
    expect(problemsOf(MINIMAL.replace("development", () => '"$${X}"'))).toEqual([
      expect.stringContaining("environment must be a name"),
    ]);
  });
});

test("one tab is one problem, whatever the lines after it would be", () => {
  const text = `${MINIMAL}log:\n\tlevel: info\naccess_log:\n  enabled: true\n    skip_paths: []\n`;
  expect(problemsOf(text)).toEqual(["7:1 tabs are not allowed as indentation; write spaces"]);
});

test("a tab does not hide what is wrong before it", () => {
  const text = `${MINIMAL}service: other\naudit: !own {}\nlog:\n\tlevel: info\n  more: [\n`;
  expect(problemsOf(text)).toEqual([
    "6:1 map keys must be unique",
    "7:8 unresolved tag; text that starts with ! must be quoted",
    "9:1 tabs are not allowed as indentation; write spaces",
  ]);
});

describe("YAML has version 1.2", () => {
  const withLine = (line: string) => `${MINIMAL}${line}\n`;

  test.each([
    ["access_log: {enabled: no}", "access_log.enabled must be true or false, not text"],
    ["access_log: {enabled: off}", "access_log.enabled must be true or false, not text"],
    [
      "access_log: {slow_threshold_ns: 1_000_000}",
      "must be a whole number of nanoseconds, such as 5000000000 (5 seconds), not text",
    ],
    ["log:", "log is empty; it must be a section with keys, or absent"],
    ["log: !own {}", "unresolved tag"],
    ["log: {level: *level}", "unresolved alias"],
    ["log:\n\tlevel: info", "tabs are not allowed"],
    ["---\nservice: other", "the file must contain a single document"],
    ["? [log]\n: {}", "a key must be text"],
    ["${KEY}: {}", "${KEY} is not a key"],
    ["access_log: {skip_paths: '${PATHS}'}", "skip_paths must be a list, not text"],
  ])("%j is refused", (line, why) => {
    const variables = { KEY: "log", PATHS: "[/a]" };
    expect(problemsOf(withLine(line), { variables }).join("\n")).toContain(why);
  });

  test.each([
    ["access_log: {enabled: TRUE}"],
    ["access_log: {slow_threshold_ns: 1e9}"],
    ["log: &log {level: &level info}\naudit: {}"],
    ["# ${UNSET}"],
  ])("%j is taken", (line) => {
    expect(problemsOf(withLine(line))).toEqual([]);
  });
});

describe("no message contains a secret", () => {
  test.each([
    ["token: *SECRET", "unresolved alias"],
    ["token: !SECRET x", "unresolved tag"],
    ["token: |SECRET", "block scalar header"],
    ["token: ${SECRET-1}", "malformed reference"],
    ["token: '${SECRET'", "malformed reference"],
    ["token: SECRET", "16 characters"],
    ["token: {SECRET: 1}", ""],
    ["token: [SECRET]", ""],
    ['token: "SECRET', ""],
  ])("with %s", (line, why) => {
    const text = `${MINIMAL.replace(/^security.*\n/m, "")}security:\n  authn:\n    internal_call:\n      ${line}\n`;
    const problems = problemsOf(text).join("\n");
    expect(problems).toContain(why);
    expect(problems).not.toBe("");
    expect(problems.replace("token.SECRET", "")).not.toContain("SECRET");
  });

  test("of a variable", () => {
    const text = serviceWith("security.authn.internal_call.token", "${T}");
    expect(problemsOf(text, { variables: { T: "hunter2" } }).join()).toContain("16 characters");
    expect(problemsOf(text, { variables: { T: "hunter2" } }).join()).not.toContain("hunter2");
  });
});

describe("a configuration", () => {
  test("has the defaults of the platform [CONF-3]", () => {
    const { config, warnings } = parseServiceConfig(MINIMAL, "/etc/hub/service.yaml", {});
    expect(warnings).toEqual([]);
    expect(config).toMatchObject({
      environment: "development",
      service: "hub",
      server: {
        http: {
          timeout_ns: 5_000_000_000,
          cors: { allowed_origins: [], max_age_seconds: 3600 },
        },
      },
      security: {
        authn: {
          enabled: true,
          mode: "gateway_trusted",
          cache_ttl_ns: 300_000_000_000,
          internal_call: { enabled: false, header: "X-Svc-Internal-Token" },
        },
        authz: { enabled: true, provider: "embedded", dev_allow_all: false },
      },
      database: {
        driver: "sqlite",
        max_open_conns: 20,
        max_idle_conns: 10,
        conn_max_lifetime_ns: 1_800_000_000_000,
        slow_query_threshold_ns: 200_000_000,
      },
      log: { level: "info" },
      access_log: {
        enabled: true,
        skip_paths: ["/healthz", "/readyz", "/metrics"],
        slow_threshold_ns: 1_000_000_000,
      },
    });
    const oidc =
      "security: {authn: {oidc: {issuer: 'https://a', audience: [b]}}, authz: {model: m}}";
    expect(
      parseServiceConfig(MINIMAL.replace(/^security.*$/m, oidc), "a", {}).config.security.authn
        .oidc,
    ).toMatchObject({
      allowed_algs: ["RS256", "RS512", "ES256", "ES512"],
      jwks_cache_ttl_ns: 600_000_000_000,
      clock_skew_ns: 60_000_000_000,
    });
  });

  test("has absolute paths of its files, resolved against its folder", () => {
    const { config } = parseServiceConfig(JSON.stringify(fullService()), "/etc/iam/s.yaml", {});
    expect(config.server.http?.tls?.client_ca_file).toBe("/etc/iam/ca.crt");
    expect(config.security.authz.model).toBe("/etc/iam/iam.zed");
    expect(config.registry?.etcd.ca_file).toBe("/etc/iam/etcd-ca.pem");
    const absolute = parseServiceConfig(
      MINIMAL.replace("hub.db", "/data/hub.db"),
      "/etc/x.yaml",
      {},
    );
    expect(absolute.config.database?.file).toBe("/data/hub.db");
  });

  test("reads variables of the environment, including numbers [CONF-1]", () => {
    process.env["SVC_ACCESS_TEST_TTL"] = "7000000";
    const text = `${MINIMAL}registry: {etcd: {endpoints: [http://e], lease_ttl_seconds: 5}}\naccess_log:\n  slow_threshold_ns: \${SVC_ACCESS_TEST_TTL}\n`;
    const file = write(text);
    expect(loadServiceConfig(file).config.access_log.slow_threshold_ns).toBe(7_000_000);
    delete process.env["SVC_ACCESS_TEST_TTL"];
  });

  test("may begin with a byte-order mark and have Windows line ends", () => {
    const file = write(`\ufeff${MINIMAL.replaceAll("\n", "\r\n")}`);
    expect(loadServiceConfig(file).config.service).toBe("hub");
  });

  test("is checked by further functions: problems refuse it, warnings do not", () => {
    const checks = [
      () => [{ path: ["server", "http"], message: "server.http: not today" }],
      () => [{ path: [], message: "careful", severity: "warning" as const }],
    ];
    expect(problemsOf(MINIMAL, { checks })).toEqual(["2:10 server.http: not today"]);
    expect(parseServiceConfig(MINIMAL, "x", { checks: checks.slice(1) }).warnings).toEqual([
      "careful",
    ]);
  });

  test("of the documentation is valid, and every key is documented", () => {
    const page = readFileSync(join(ROOT, "docs/configuration.md"), "utf8");
    const [, example = ""] = /```yaml\n(# yaml-language-server[\s\S]*?)```/.exec(page) ?? [];
    const variables = {
      HUB_TOKEN: "0123456789abcdef",
      SYSTEM_TOKEN: "fedcba9876543210",
      SPICEDB_TOKEN: "t",
      DATABASE_URL: "postgres://a:b@c/d",
      ETCD_PASSWORD: "p",
    };
    expect(parseServiceConfig(example, "/etc/iam.yaml", { variables }).warnings).toEqual([]);
    for (const key of leaves(fullService(), "")) expect(page).toContain(`\`${key}\``);
  });
});

function leaves(value: unknown, prefix: string): string[] {
  if (typeof value !== "object" || value === null) return [prefix];
  if (Array.isArray(value)) {
    return typeof value[0] === "object" ? leaves(value[0], `${prefix}[]`) : [prefix];
  }
  return Object.entries(value).flatMap(([key, item]) =>
    leaves(item, prefix === "" ? key : `${prefix}.${key}`),
  );
}

function thrown(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

describe("a value that is empty because of an empty variable", () => {
  const bare = MINIMAL.replace(/^security:.*\n(?: .*\n)*/m, "");
  const authn = (yaml: string) => `${bare}security:\n  authn:\n    ${yaml}\n`;
  const oidc = (keys: string) =>
    authn(`oidc: {issuer: "https://id.example.com", audience: [a], ${keys}}`);
  test.each([
    ["gateway.trusted_peers[0]", authn('gateway: {trusted_peers: ["${NONE}"]}')],
    ["gateway.trusted_peers[1]", authn('gateway: {trusted_peers: [10.0.0.1, "${NONE}${NONE}"]}')],
    ["oidc.audience[0]", authn('oidc: {issuer: "https://id.example.com", audience: ["${NONE}"]}')],
    ["oidc.allowed_owners[0]", oidc('allowed_owners: ["${NONE:-}"]')],
    ["oidc.jwks_url", oidc('jwks_url: "${NONE}"')],
    ["oidc.clock_skew_ns", oidc('clock_skew_ns: "${NONE}"')],
    ["internal_call.token_file", authn('internal_call: {token_file: "${NONE}"}')],
    ["internal_call.system_token", authn('internal_call: {system_token: "${NONE}"}')],
    [
      "internal_call.token[0].token_file",
      authn('internal_call: {token: [{service: a, token_file: "${NONE}"}]}'),
    ],
  ])("%s: the variable is named", (key, text) => {
    expect(problemsOf(text, { variables: { NONE: "" } })).toEqual([
      expect.stringMatching(/^\d+:\d+ [^ ]+ is empty: the variable NONE is empty$/),
    ]);
    expect(problemsOf(text, { variables: { NONE: "" } })[0]).toContain(`security.authn.${key} is`);
  });

  test("a value that is empty without a variable has the usual message", () => {
    expect(problemsOf(authn('gateway: {trusted_peers: [""]}'))).toEqual([
      expect.stringContaining("trusted_peers[0] must have at least 1 character"),
    ]);
  });
});
