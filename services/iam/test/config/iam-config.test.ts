import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigurationError } from "svc-access/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { checkIamConfig } from "../../src/config/check-iam-config.ts";
import { loadIamConfig } from "../../src/config/load-iam-config.ts";

const ID = "4b7d1b0e-6d0a-4bb1-8a5a-0d8c1ef1a0e1";
const OTHER = "0aa2ff0d-6f2b-4c9f-9a43-7f1f7c0c4b11";
const THIRD = "1bb3ff0e-6f2b-4c9f-9a43-7f1f7c0c4b12";
const SECRET = "a secret of thirty-two characters";

const MODEL = new URL("../../../../model/iam.zed", import.meta.url).pathname;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-iam-config-"));
  copyFileSync(MODEL, join(folder, "model.zed"));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Section = Readonly<Record<string, unknown>>;
interface Changes {
  readonly server?: Section | null;
  readonly environment?: string;
  readonly authn?: Section;
  readonly oidc?: Section;
  readonly authz?: Section;
  readonly iam?: Section;
  readonly login?: Section;
  readonly database?: null;
}

/** A configuration that is valid, with changes. */
function load(changes: Changes = {}) {
  return loadAll(changes).sections.iam;
}

function loadAll({
  environment,
  server = { http: { address: "127.0.0.1:18080" } },
  authn,
  oidc,
  authz,
  iam,
  login,
  database,
}: Changes = {}) {
  const file = join(folder, "service.yaml");
  const document = {
    environment: environment ?? "development",
    service: "iam",
    ...(server === null ? {} : { server }),
    security: {
      authn: {
        mode: "hybrid",
        provider: "embedded",
        oidc: { issuer: "https://iam.example.com/v1/iam/oidc", audience: [ID], ...oidc },
        gateway: { trusted_peers: ["10.0.0.0/8"] },
        ...authn,
      },
      authz: { provider: "embedded", model: "model.zed", ...authz },
    },
    ...(database === null ? {} : { database: { driver: "sqlite", file: "iam.db" } }),
    iam: {
      organization: "acme",
      public_url: "https://iam.example.com",
      login: { client_id: ID, redirect_uris: ["https://a.example.com/callback"], ...login },
      ...iam,
    },
  };
  writeFileSync(file, stringify(document));
  return loadIamConfig(file);
}

/** The problems without the folder of the file. */
function problemsOf(changes: Changes): string[] {
  try {
    load(changes);
    return [];
  } catch (error) {
    const { problems } = error as ConfigurationError;
    return problems.map((problem) => problem.replaceAll(folder, ""));
  }
}

test("svc-iam has the mode and the ports of the platform [IAM-4]", () => {
  const { config } = loadIamConfig(join(import.meta.dirname, "../../service.yaml"));
  const { http, grpc, metrics } = config.server;
  const ports = [http, grpc, metrics].map((one) => one?.address.split(":").at(-1));
  expect(ports).toEqual(["18080", "19080", "19180"]);
  expect(config.security.authn.mode).toBe("hybrid");
});

test("in the guide it listens on all addresses, and for metrics on its own machine [IAM-4]", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/iam.md"), "utf8");
  const guide = page.slice(page.indexOf("## From empty machines to two replicas"));
  const addresses = [...guide.matchAll(/^ {2}(\w+): \{ address: "\$\{\w+:-(.*)\}" \}$/gm)];
  expect(Object.fromEntries(addresses.map(([, name, address]) => [name, address]))).toEqual({
    http: "0.0.0.0:18080",
    grpc: "0.0.0.0:19080",
    metrics: "127.0.0.1:19180",
  });
});

test("what is not given has the defaults of the design", () => {
  expect(load()).toMatchObject({
    organization: "acme",
    browser_login: "gateway",
    clients: [],
    login: { scopes: ["openid", "profile", "email"] },
    sessions: { idle_ns: 3 * 86_400e9, absolute_ns: 30 * 86_400e9 },
  });
});

test.each<[string, Changes]>([
  ["no database", { database: null }],
  ["no provider", { authn: { provider: undefined } }],
  ["no login audience", { oidc: { audience: ["another"] } }],
  ["another issuer", { oidc: { issuer: "https://iam.example.com" } }],
  ["no key file outside development", { environment: "production" }],
  [
    "a login client that is not a UUID",
    { login: { client_id: "console" }, oidc: { audience: ["console"] } },
  ],
  ["a secret of the own client", { login: { client_secret: SECRET } }],
  ["no redirect URI", { login: { redirect_uris: [] } }],
  ["an organization with a slash", { iam: { organization: "a/b" } }],
  ["an organization with a star", { iam: { organization: "*" } }],
  ["an unknown key", { iam: { organisation: "acme" } }],
  ["a service that writes zones", { iam: { services: { hub: { write_types: ["zone"] } } } }],
  [
    "a service that writes groups",
    { iam: { services: { hub: { write_types: ["a1", "group"] } } } },
  ],
  ["a service that writes all types", { iam: { services: { hub: { write_types: ["*"] } } } }],
  ["a type that is not a name", { iam: { services: { hub: { read_types: ["Project"] } } } }],
  ["a service with an unknown key", { iam: { services: { hub: { types: ["project"] } } } }],
  [
    "the engine that asks this service",
    {
      authz: {
        provider: "iam",
        iam: { endpoint: "iam:19080", token: "a-token-of-the-hub", insecure: true },
      },
    },
  ],
  ["a service that is not a name", { iam: { services: { "a b": {} } } }],
  [
    "an idle limit above the absolute one",
    { iam: { sessions: { idle_ns: 90e9, absolute_ns: 60e9 } } },
  ],
  ["an idle limit in seconds", { iam: { sessions: { idle_ns: 3600 } } }],
  ["oidc without a client secret", { authn: { provider: "oidc" } }],
  [
    "casdoor without its block",
    { authn: { provider: "casdoor" }, login: { client_secret: SECRET } },
  ],
  [
    "clients of another provider",
    {
      authn: { provider: "oidc" },
      login: { client_secret: SECRET },
      iam: { clients: [{ id: OTHER, name: "a", flows: ["device"] }] },
    },
  ],
  [
    "second factors of another provider",
    {
      authn: { provider: "oidc" },
      login: { client_secret: SECRET },
      iam: { second_factor: { required_for: ["owner"] } },
    },
  ],
  [
    "a text for a list, of more characters than the list may have items",
    { iam: { second_factor: { required_for: "permission_admin" } } },
  ],
])("%s is refused", (_, changes) => {
  expect(problemsOf(changes)).toMatchSnapshot();
});

test("a configuration of another service is refused", () => {
  const { config, sections } = loadAll();
  expect([...checkIamConfig({ ...config, service: "notes" }, sections)]).toEqual([
    {
      path: ["service"],
      message: "service must be iam: its routes, tokens and events have this name",
    },
  ]);
});

test("an engine that this service does not know is refused", () => {
  const { config, sections } = loadAll();
  const authz = { ...config.security.authz, provider: "another" as "embedded" };
  const changed = { ...config, security: { ...config.security, authz } };
  expect([...checkIamConfig(changed, sections)]).toEqual([
    {
      path: ["security", "authz", "provider"],
      message:
        "security.authz.provider must be embedded or spicedb: this service is what others ask",
    },
  ]);
});

/** What is wrong with a key. */
function reasons(key: string, problems: readonly string[]): string[] {
  return problems.map((problem) => problem.split(` ${key} `)[1] ?? problem);
}

const NOT_HERE = "http:// is only for this machine, such as http://localhost:8080";

test.each([
  ["iam.example.com", "must be an origin, such as https://iam.example.com"],
  ["https://iam.example.com/", "must be an origin: write https://iam.example.com"],
  ["https://iam.example.com/path", "must be an origin: write https://iam.example.com"],
  ["https://user@iam.example.com", "must be an origin: write https://iam.example.com"],
  ["HTTPS://iam.example.com", "must be an origin: write https://iam.example.com"],
  ["https://iam.example.com:443", "must be an origin: write https://iam.example.com"],
  ["http://iam.example.com", `must begin with https://: ${NOT_HERE}`],
  ["http://127.0.0.1.evil.example", `must begin with https://: ${NOT_HERE}`],
  ["ftp://iam.example.com", `must begin with https://, not with ftp:; ${NOT_HERE}`],
  ["javascript:alert(1)", `must begin with https://, not with javascript:; ${NOT_HERE}`],
])("the public URL %s is refused with the fix", (url, problem) => {
  // The issuer is below it.
  expect(reasons("iam.public_url", problemsOf({ iam: { public_url: url } }))[0]).toBe(problem);
});

test.each([
  ["https://*.example.com/callback", "must not have '*': it is compared exactly, so list each URL"],
  ["https://example.com/*", "must not have '*': it is compared exactly, so list each URL"],
  ["https://example.com/callback#x", "must not have a fragment: remove what begins with #"],
  ["https://example.com/callback#", "must not have a fragment: remove what begins with #"],
  ["https://user@example.com/callback", "must not have a user: remove what is before @"],
  ["https://user:secret@example.com/", "must not have a user: remove what is before @"],
  ["https://example.com", "is compared exactly, as browsers send it: write https://example.com/"],
  [
    "https://example.com/a/../callback",
    "is compared exactly, as browsers send it: write https://example.com/callback",
  ],
  [
    "https://EXAMPLE.com/callback",
    "is compared exactly, as browsers send it: write https://example.com/callback",
  ],
  ["http://example.com/callback", `must begin with https://: ${NOT_HERE}`],
  ["//example.com/callback", "must be a URL, such as https://app.example.com/callback"],
  ["/callback", "must be a URL, such as https://app.example.com/callback"],
  ["app:/callback", `must begin with https://, not with app:; ${NOT_HERE}`],
  ["com.example.app:/cb", `must begin with https://, not with com.example.app:; ${NOT_HERE}`],
  ["javascript:alert(1)", `must begin with https://, not with javascript:; ${NOT_HERE}`],
  [`https://example.com/${"x".repeat(2048)}`, "must have at most 2048 characters"],
])("30: the redirect URI %s is refused with the fix", (uri, problem) => {
  const problems = problemsOf({ login: { redirect_uris: [uri] } });
  expect(reasons("iam.login.redirect_uris[0]", problems)).toEqual([problem]);
});

test.each([
  "https://example.com/",
  "https://example.com/callback?a=b",
  "http://localhost:8080/callback",
  "http://127.0.0.1:8080/callback",
  "http://[::1]/callback",
])("the redirect URI %s is accepted", (uri) => {
  expect(load({ login: { redirect_uris: [uri] } }).login.redirect_uris).toEqual([uri]);
});

const ROBOT = { flows: ["service_account"], client_secret: SECRET };
const rsa = { kty: "RSA", n: "AQAB", e: "AQAB" };

test.each<[string, Section, string]>([
  ["an id that is not a UUID", { id: "console" }, "clients[0].id must be a UUID"],
  [
    "the id of the login client",
    { id: ID.toUpperCase() },
    "clients[0].id is that of another client",
  ],
  ["no name", { name: " " }, "clients[0].name"],
  [
    "an address of logouts that nothing can be sent to",
    { backchannel_logout_uri: "app:/logout" },
    "clients[0].backchannel_logout_uri must be an http or https URL",
  ],
  [
    "an address of logouts that is too long",
    { backchannel_logout_uri: `https://app.example.com/${"a".repeat(2048)}` },
    "clients[0].backchannel_logout_uri must have at most 2048 characters",
  ],
  ["an unknown flow", { flows: ["password"] }, "clients[0].flows[0]"],
  [
    "the code flow without a redirect URI",
    { flows: ["code"] },
    "clients[0].redirect_uris must be given",
  ],
  [
    "a redirect URI without the code flow",
    { redirect_uris: ["https://a.example/"] },
    "clients[0].redirect_uris must be given",
  ],
  ["a short secret", { client_secret: "secret" }, "clients[0].client_secret must have at least 32"],
  ["two credentials", { client_secret: SECRET, public_keys: [rsa] }, "one kind of credential"],
  ["a private key", { public_keys: [{ ...rsa, d: "AQAB" }] }, "has a private key (d)"],
  [
    "a service account without a credential",
    { flows: ["service_account"] },
    "a service account has a credential",
  ],
  [
    "a service account that people use",
    { flows: ["service_account", "device"], client_secret: SECRET },
    "must have nothing beside service_account",
  ],
  [
    "an audience, which people log in to",
    { audience: ["urn:acme:notes"] },
    "is for service accounts",
  ],
  [
    "an audience twice",
    { ...ROBOT, audience: ["urn:acme:notes", "urn:acme:notes"] },
    "clients[0].audience has an entry twice",
  ],
  ...[
    "",
    "notes",
    "/notes",
    "//notes.example.com",
    "https://",
    "https://notes.example.com/#a",
    "https://notes.example.com/a b",
    'https://notes.example.com/"',
    "https://notes.example.com/\t",
    "urn:acme:n\u00f6tes",
    "urn:svc-access:platform",
    `urn:acme:${"x".repeat(256)}`,
  ].map((audience): [string, Section, string] => [
    `the audience ${JSON.stringify(audience).slice(0, 40)}`,
    { ...ROBOT, audience: [audience] },
    "clients[0].audience[0]",
  ]),
])("a client with %s is refused [IDP-2]", (_, changes, message) => {
  const client = { id: OTHER, name: "Tool", flows: ["device"], ...changes };
  expect(() => load({ iam: { clients: [client] } })).toThrow(message);
});

test.each<[Section | null, readonly (string | undefined)[]]>([
  [null, ["0.0.0.0:18080", "0.0.0.0:19080", "127.0.0.1:19180"]],
  [{}, ["0.0.0.0:18080", "0.0.0.0:19080", "127.0.0.1:19180"]],
  [{ http: { timeout_ns: 1e9 } }, ["0.0.0.0:18080", "0.0.0.0:19080", "127.0.0.1:19180"]],
  [{ http: { address: "10.0.0.1:80" } }, ["10.0.0.1:80", "0.0.0.0:19080", "127.0.0.1:19180"]],
  [{ grpc: null, metrics: null }, ["0.0.0.0:18080", undefined, undefined]],
])("with server %j it listens at %j", (server, expected) => {
  const { http, grpc, metrics } = loadAll({ server }).config.server;
  expect([http?.address, grpc?.address, metrics?.address]).toEqual(expected);
});

const REFUSED = "this service refuses the logins of its command line";
test.each<[readonly string[], readonly string[], readonly string[]]>([
  [
    [ID],
    [OTHER],
    [`iam.clients[0].id ${OTHER} is not in security.authn.oidc.audience: ${REFUSED}`],
  ],
  [[ID, OTHER], [OTHER], []],
  // As a token has it, and its audience is compared.
  [
    [ID, OTHER.toUpperCase()],
    [OTHER],
    [`iam.clients[0].id ${OTHER} is not in security.authn.oidc.audience: ${REFUSED}`],
  ],
  // One of another service.
  [[ID, OTHER], [THIRD, OTHER], []],
  [
    [ID],
    [THIRD, OTHER],
    [
      `iam.clients[0].id ${THIRD} is not in security.authn.oidc.audience, nor is another client of devices: ${REFUSED}`,
    ],
  ],
  [[ID], [], []],
])(
  "with the audience %j, the clients of devices %j are warned about as they should be",
  (audience, ids, expected) => {
    const clients = ids.map((id) => ({ id, name: "Command line", flows: ["device"] }));
    const { warnings } = loadAll({ oidc: { audience }, iam: { clients } });
    expect(warnings.filter((warning) => warning.includes("clients"))).toEqual(expected);
  },
);

test("a length of time with a unit says which number it must be", () => {
  expect(problemsOf({ iam: { sessions: { idle_ns: "3d" } } })).toEqual([
    expect.stringContaining(
      "iam.sessions.idle_ns must be a whole number of nanoseconds, such as 5000000000 (5 seconds), not text",
    ),
  ]);
});

test.each(["idle_ns", "absolute_ns"])(
  "%s out of its limits has one line, which names them",
  (key) => {
    for (const value of [-1e30, -1, 0, 59_999_999_999, 104 * 86_400e9 + 1, 2 ** 53, 1e30]) {
      const limit =
        value < 60e9
          ? "at least 60000000000 nanoseconds, a minute"
          : "at most 8985600000000000 nanoseconds, 104 days";
      expect(problemsOf({ iam: { sessions: { [key]: value } } }), `${value}`).toEqual([
        expect.stringMatching(new RegExp(`iam\\.sessions\\.${key} must be ${limit}$`)),
      ]);
    }
    const most = 104 * 86_400e9;
    expect(
      load({ iam: { sessions: { absolute_ns: most, [key]: most } } }).sessions[key as "idle_ns"],
    ).toBe(most);
  },
);
