import { expect, test } from "vitest";
import { parseServiceConfig } from "../../../src/runtime/configuration/load-service-config.ts";
import { redactText } from "../../../src/runtime/logging/redaction/redact-text.ts";
import { redact } from "../../../src/runtime/logging/redaction/redaction.ts";
import { fullService, MINIMAL, problemsOf, serviceWith } from "./sample.ts";

const authz = (text: string) => MINIMAL.replace(/^security.*$/m, `security: {authz: {${text}}}`);
const inEnvironment = (name: string, text: string) => text.replace("development", name);
const server = (text: string) => MINIMAL.replace(/^server.*$/m, `server: {${text}}`);

test("neither model nor database is needed without AUTHORIZED RPCs", () => {
  expect(problemsOf(authz("").replace(/^database.*$/m, ""))).toEqual([]);
});

test.each<[string, string, string]>([
  ["no server", server(""), "server must have http, grpc or both"],
  ["metrics alone", server("metrics: {address: 'a:1'}"), "server must have http, grpc or both"],
  [
    "one port twice",
    server("http: {address: 'a:1'}, grpc: {address: 'a:1'}"),
    "server.grpc.address has the port 1 of server.http",
  ],
  [
    "one port on all addresses and on one",
    server("http: {address: '0.0.0.0:1'}, metrics: {address: '127.0.0.1:1'}"),
    "server.metrics.address has the port 1 of server.http",
  ],
  ...["http", "grpc"].map((name): [string, string, string] => [
    `time for calls of connections of ${name} that never grow too old`,
    server(`${name}: {address: 'a:1', max_connection_age_grace_ns: 5000000}`),
    `server.${name}.max_connection_age_grace_ns needs max_connection_age_ns`,
  ]),
  [
    "a delay that leaves calls no time",
    server("http: {address: 'a:1'}, shutdown_delay_ns: 10000000000"),
    "server.shutdown_delay_ns must be less than shutdown_timeout_ns, 10000000000",
  ],
  [
    "a delay of more than 5 minutes",
    server("http: {address: 'a:1'}, shutdown_delay_ns: 300000000001"),
    "server.shutdown_delay_ns must be at most 300000000000",
  ],
  [
    "metrics at /healthz",
    server("http: {address: 'a:1'}, metrics: {address: 'a:2', path: /healthz}"),
    "server.metrics.path must not be /healthz",
  ],
  [
    "no model for SpiceDB",
    authz("provider: spicedb, spicedb: {endpoint: 'a:1', token: t}"),
    "model is missing",
  ],
  ...["':memory:'", "':MEMORY:'", "':memory:?cache=shared'"].map(
    (file): [string, string, string] => [
      `a database that is not a file, ${file}`,
      MINIMAL.replace("hub.db", file),
      "would be lost with the process",
    ],
  ),
  ["a URI for a file", MINIMAL.replace("hub.db", "'file:hub.db?mode=rw'"), "not a URI"],
  ["white space for a file", MINIMAL.replace("hub.db", "' '"), "must not be empty: name a file"],
  ["no database", MINIMAL.replace(/^database.*$/m, ""), "database is missing"],
  ["no SpiceDB", authz("provider: spicedb, model: m"), "security.authz.spicedb is missing"],
  [
    "no model for IAM",
    authz("provider: iam, iam: {endpoint: 'a:1', token: a-token-of-the-hub}"),
    "model is missing",
  ],
  ["no IAM", authz("provider: iam, model: m"), "security.authz.iam is missing"],
  [
    "an IAM that is not used",
    authz("model: m, iam: {endpoint: 'a:1', token: a-token-of-the-hub}"),
    "security.authz.iam is given, but the provider is embedded; write provider: iam",
  ],
  [
    "two engines",
    authz(
      "provider: iam, model: m, iam: {endpoint: 'a:1', token: a-token-of-the-hub}, spicedb: {endpoint: 'a:1', token: t}",
    ),
    "security.authz.spicedb is given, but the provider is iam",
  ],
  [
    "an IAM with two tokens",
    authz(
      "provider: iam, model: m, iam: {endpoint: 'a:1', token: a-token-of-the-hub, token_file: t}",
    ),
    "security.authz.iam must have either token or token_file",
  ],
  [
    "an IAM with half a certificate",
    authz(
      "provider: iam, model: m, iam: {endpoint: 'a:1', token: a-token-of-the-hub, key_file: k}",
    ),
    "security.authz.iam must have certificate_file and key_file, or neither",
  ],
  [
    "a SpiceDB that is not used",
    authz("model: m, spicedb: {endpoint: 'a:1', token: t}"),
    "the provider is embedded",
  ],
  ...["production", "prod", "staging", "dev", "qa", "tests", "development-2"].flatMap((name) =>
    ["enabled: false", "dev_allow_all: true"].map(
      (off) =>
        [
          `${off} in ${name}`,
          inEnvironment(name, authz(off)),
          `refused in environment ${name}: only development and test allow it`,
        ] as [string, string, string],
    ),
  ),
  [
    "a CA of SpiceDB without TLS",
    authz(
      "provider: spicedb, model: m, spicedb: {endpoint: 'a:1', token: t, insecure: true, ca_file: ca}",
    ),
    "security.authz.spicedb has insecure and ca_file",
  ],
  [
    "a CA of IAM without TLS",
    authz(
      "provider: iam, model: m, iam: {endpoint: 'a:1', token: a-token-of-the-hub, insecure: true, ca_file: ca}",
    ),
    "security.authz.iam has insecure and ca_file",
  ],
  [
    "more idle connections than connections",
    MINIMAL.replace("file: hub.db", "file: hub.db, max_open_conns: 5"),
    "database.max_idle_conns must be at most max_open_conns, 5",
  ],
  [
    "a user without password",
    serviceWith("registry.etcd.password", undefined),
    "username and password",
  ],
  [
    "a password without user",
    serviceWith("registry.etcd.username", undefined),
    "username and password",
  ],
  [
    "mixed endpoints",
    serviceWith("registry.etcd.endpoints", ["https://a", "http://b"]),
    "must be all https or all http",
  ],
  [
    "a client certificate without its key",
    serviceWith("registry.etcd.key_file", undefined),
    "must have certificate_file and key_file, or neither",
  ],
  [
    "the key of a client certificate alone",
    serviceWith("registry.etcd.certificate_file", undefined),
    "must have certificate_file and key_file, or neither",
  ],
  [
    "a CA without TLS",
    serviceWith("registry.etcd.endpoints", ["http://b"]),
    "needs endpoints with https",
  ],
])("%s is refused", (_, text, why) => {
  const problems = problemsOf(text);
  expect(problems).toEqual([expect.stringContaining(why)]);
  expect(problems[0]).toMatch(/^\d+:\d+ /);
});

test.each([
  ["checks off", authz("enabled: false"), ["security.authz.enabled is false"]],
  [
    "checks off in test",
    inEnvironment("test", authz("enabled: false")),
    ["security.authz.enabled is false"],
  ],
  ["checks that allow all", authz("dev_allow_all: true"), ["security.authz.dev_allow_all is true"]],
  [
    "SpiceDB in plain text",
    inEnvironment(
      "production",
      authz("provider: spicedb, model: m, spicedb: {endpoint: 'a:1', token: t, insecure: true}"),
    ),
    ["security.authz.spicedb.insecure is true"],
  ],
  [
    "IAM in plain text",
    inEnvironment(
      "production",
      authz(
        "provider: iam, model: m, iam: {endpoint: 'a:1', token: a-token-of-the-hub, insecure: true}",
      ),
    ),
    ["security.authz.iam.insecure is true"],
  ],
  [
    "etcd in plain text",
    `${MINIMAL}registry: {etcd: {endpoints: [http://a], username: u, password: p}}\n`,
    ["registry.etcd.endpoints get the password in plain text"],
  ],
  ["any free port, twice", server("http: {address: 'a:0'}, grpc: {address: 'a:0'}"), []],
  ["one port on two addresses", server("http: {address: 'a:1'}, grpc: {address: 'b:1'}"), []],
])("%s is taken, with a warning where it is dangerous", (_, text, warnings) => {
  const loaded = parseServiceConfig(text, "service.yaml", { variables: {} });
  expect(loaded.warnings).toEqual(warnings.map((warning) => expect.stringContaining(warning)));
});

test("a configuration with every key is accepted, and logged without its secrets", () => {
  const { config, warnings } = parseServiceConfig(JSON.stringify(fullService()), "/a/b.yaml", {});
  expect(warnings).toEqual([]);
  expect(JSON.stringify(config)).toContain("SECRET");
  const logged = redact(config) as any;
  expect(JSON.stringify(logged)).not.toContain("SECRET");
  const { security, database } = logged;
  expect(security.authn.internal_call).toMatchObject({ token: "***", system_token: "***" });
  expect(security.authn.casdoor.client_secret).toBe("***");
  expect(security.authz.spicedb).toMatchObject({ endpoint: "spicedb:50051", token: "***" });
  expect(database.url).toBe("postgres://iam:***@db:5432/iam?password=***");
});

test.each([
  [
    "sslmod=verify-full",
    'has the unknown parameter sslmod; did you mean "sslmode"? Known parameters',
  ],
  ["sslmode=verify-full&sslmode=disable", "has the parameter sslmode more than once"],
  ["sslmode=bogus", "has the parameter sslmode, which must be one of disable, no-verify, prefer"],
  ["connect_timeout=abc", "has the parameter connect_timeout, which must be whole seconds"],
  ["query_timeout=abc", "has the parameter query_timeout, which must be whole milliseconds"],
  ["target_session_attrs=read-write", "has the parameter target_session_attrs, which the driver"],
  [
    "sslmode=no-verify&uselibpqcompat=true",
    "has sslmode=no-verify, which uselibpqcompat does not have",
  ],
  ["password=a#SECRET", "cannot be read: write postgres://user@host:port/database, with special"],
])("a database.url with ?%s is refused at its place", (query, why) => {
  const url = `postgres://u:SECRET@h/db?${query}`;
  const found = problemsOf(
    MINIMAL.replace(/^database.*$/m, `database: {driver: postgres, url: "${url}"}`),
  );
  expect(found).toEqual([expect.stringMatching(/^\d+:30 /)]);
  expect(found[0]).toContain(`database.url ${why}`);
  expect(found[0]).not.toContain("SECRET");
  expect(found.map(redactText)).toEqual(found);
});
