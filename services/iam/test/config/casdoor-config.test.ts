import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { loadIamConfig } from "../../src/config/load-iam-config.ts";

const LOGIN = "0f2b6d1f3c5e4a7b9d10";
const MANAGEMENT = "2f6c1a54e0b94a2d8c11";
const SECRET = "the secret of the login";

const MODEL = new URL("../../../../model/iam.zed", import.meta.url).pathname;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-iam-casdoor-"));
  copyFileSync(MODEL, join(folder, "model.zed"));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Section = Readonly<Record<string, unknown>>;
interface Changes {
  readonly casdoor?: Section | null;
  readonly authn?: Section;
  readonly oidc?: Section;
  readonly login?: Section;
  readonly iam?: Section;
}

const CASDOOR = {
  endpoint: "http://casdoor.identity:8000",
  organization_name: "acme",
  application_name: "app-iam",
  client_id: MANAGEMENT,
  client_secret: "the secret of the management API",
};

/** A configuration of production that is valid, with changes. */
function load({ casdoor, authn, oidc, login, iam }: Changes = {}) {
  const file = join(folder, "service.yaml");
  const document = {
    environment: "production",
    service: "iam",
    server: { http: { address: "127.0.0.1:18080" } },
    security: {
      authn: {
        mode: "hybrid",
        provider: "casdoor",
        oidc: {
          issuer: "https://id.example.com",
          audience: [LOGIN],
          allowed_owners: ["acme"],
          ...oidc,
        },
        ...(casdoor === null ? {} : { casdoor: { ...CASDOOR, ...casdoor } }),
        gateway: { trusted_peers: ["10.0.0.0/8"] },
        ...authn,
      },
      authz: { provider: "embedded", model: "model.zed" },
    },
    database: { driver: "sqlite", file: "iam.db" },
    iam: {
      organization: "acme",
      public_url: "https://iam.example.com",
      login: {
        client_id: LOGIN,
        client_secret: SECRET,
        redirect_uris: ["https://a.example.com/callback"],
        ...login,
      },
      ...iam,
    },
  };
  writeFileSync(file, stringify(document));
  return loadIamConfig(file).config.security.authn.casdoor;
}

const BLOCK = "security.authn.casdoor";

test.each<[string, Changes, string]>([
  ["no block", { casdoor: null }, `${BLOCK} is missing: the provider is casdoor`],
  ["a block that nobody reads", { authn: { provider: "oidc" } }, "the provider is oidc"],
  ["an unknown key", { casdoor: { organisation_name: "acme" } }, "organisation_name is not a key"],
  ...["endpoint", "organization_name", "application_name", "client_id", "client_secret"].flatMap(
    (key): [string, Changes, string][] => [
      [`no ${key}`, { casdoor: { [key]: undefined } }, `${BLOCK}.${key}`],
      [`an empty ${key}`, { casdoor: { [key]: "" } }, `${BLOCK}.${key}`],
      [`a number as ${key}`, { casdoor: { [key]: 7 } }, `${BLOCK}.${key}`],
    ],
  ),
  ...["casdoor:8000", "ftp://casdoor", "//casdoor", "http://", "javascript:alert(1)"].map(
    (endpoint): [string, Changes, string] => [
      `the endpoint ${endpoint}`,
      { casdoor: { endpoint } },
      `${BLOCK}.endpoint must be an http or https URL`,
    ],
  ),
  [
    "credentials in the endpoint",
    { casdoor: { endpoint: "http://admin:123@casdoor:8000" } },
    `${BLOCK}.endpoint must not contain a user or a password`,
  ],
  [
    "a query in the endpoint",
    { casdoor: { endpoint: "http://casdoor:8000?clientId=x" } },
    `${BLOCK}.endpoint must not have a query or a fragment`,
  ],
  [
    "a fragment in the endpoint",
    { casdoor: { endpoint: "http://casdoor:8000/#x" } },
    `${BLOCK}.endpoint must not have a query or a fragment`,
  ],
  [
    "another organization",
    { casdoor: { organization_name: "built-in" } },
    `${BLOCK}.organization_name is built-in, but iam.organization is acme`,
  ],
  ...["admin/app-iam", "app iam", "..", "app?x", "app#x", "app\\x"].map(
    (application_name): [string, Changes, string] => [
      `the application ${application_name}`,
      { casdoor: { application_name } },
      `${BLOCK}.application_name must be the name of the application`,
    ],
  ),
  [
    "a colon in the client id",
    { casdoor: { client_id: "a:b" } },
    `${BLOCK}.client_id must not contain ':'`,
  ],
  [
    "users of all organizations",
    { oidc: { allowed_owners: [] } },
    "security.authn.oidc.allowed_owners must have acme",
  ],
  [
    "users of another organization only",
    { oidc: { allowed_owners: ["built-in"] } },
    "security.authn.oidc.allowed_owners must have acme",
  ],
  [
    "a login without a secret",
    { login: { client_secret: undefined } },
    "iam.login.client_secret is missing",
  ],
  [
    "two secrets of one client",
    { casdoor: { client_id: LOGIN } },
    "iam.login.client_secret differs from security.authn.casdoor.client_secret",
  ],
  [
    "a login for which tokens are refused",
    { oidc: { audience: [MANAGEMENT] } },
    "security.authn.oidc.audience does not have iam.login.client_id",
  ],
])("%s is refused", (_, changes, message) => {
  expect(() => load(changes)).toThrow(message);
});

test("no problem names a secret", () => {
  const changes = { casdoor: { client_id: LOGIN, endpoint: "x" } };
  expect(() => load(changes)).toThrow(
    expect.objectContaining({
      message: expect.not.stringMatching(/the secret of/),
    }),
  );
});

test("the login and the management API are one client, or two", () => {
  expect(load()).toMatchObject(CASDOOR);
  const one = { casdoor: { client_id: LOGIN }, login: { client_secret: undefined } };
  expect(load(one)).toMatchObject({ client_id: LOGIN });
});
