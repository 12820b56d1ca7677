import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { findingsOf } from "./findings.ts";
import { fullPlatform, platformWith } from "./sample.ts";

const load = (text: string) => loadConfig(text, "svc-access.yaml", {});

describe("a configuration", () => {
  test("with every key is accepted unchanged [PLCF-1]", () => {
    const { loaded } = load(JSON.stringify(fullPlatform()));
    const { services, ...rest } = fullPlatform();
    const iam = { ...services.iam, ports: {}, authn_mode: "gateway_trusted", published_as: "http" };
    expect(loaded?.config).toEqual({ ...rest, services: { ...services, iam } });
  });

  test("with only the required keys gets every default", () => {
    expect(load("model: iam.zed").loaded?.config).toEqual({
      environment: "development",
      model: "iam.zed",
      frontends: {},
      paths: [],
    });
  });

  test.each([
    ["identity.allowed_owners", []],
    ["edge.rate_limit", "local"],
    ["edge.backstop", true],
    ["edge.login_timeout", "4m"],
    ["edge.listeners[0].protocol", "HTTPS"],
    ["services.hub.ports", {}],
    ["services.hub.authn_mode", "gateway_trusted"],
    ["services.hub.published_as", "http"],
    ["services.hub.timeout", "5s"],
    ["frontends.web.prefix", "/"],
    ["frontends.web.services", []],
    ["frontends.web.claims", "default"],
    ["frontends.web.login", "session"],
    ["frontends.web.connect", false],
    ["frontends.web.allowed_origins", []],
    ["paths[0].match", "exact"],
    ["paths[0].methods", ["GET"]],
  ])("without %s has its default", (place, expected) => {
    expect(load(platformWith(place, undefined)).loaded?.config).toEqual(
      load(platformWith(place, expected)).loaded?.config,
    );
  });

  test.each([
    "environment",
    "model",
    "identity.end_session_endpoint",
    "edge",
    "edge.listeners[0].hostname",
    "edge.listeners[0].certificate.namespace",
    "services.hub.backend.service.port",
    "services.hub.ports.http",
    "services.hub.ports.grpc",
    "frontends.web.client_secret.namespace",
    "frontends.web.backend",
  ])("needs no %s", (place) => {
    expect(findingsOf(platformWith(place, undefined))).toEqual([]);
  });

  test.each([
    "identity.issuer",
    "identity.authorization_endpoint",
    "identity.token_endpoint",
    "identity.jwks_uri",
    "edge.gateway",
    "edge.gateway.name",
    "edge.gateway.namespace",
    "edge.gateway.class",
    "edge.listeners",
    "edge.listeners[0].name",
    "edge.listeners[0].port",
    "edge.listeners[0].certificate.name",
    "services.hub.packages",
    "services.hub.backend.service.name",
    "services.hub.backend.service.namespace",
    "services.iam.backend.backend.name",
    "services.iam.backend.backend.namespace",
    "services.iam.backend.backend.endpoints",
    "services.iam.backend.backend.endpoints[0].address",
    "services.iam.backend.backend.endpoints[0].port",
    "frontends.web.host",
    "frontends.web.namespace",
    "frontends.web.client_id",
    "frontends.web.client_secret",
    "frontends.web.client_secret.name",
    "frontends.web.redirect_url",
    "frontends.web.logout_path",
    "paths[0].path",
  ])("without %s is refused", (place) => {
    expect(findingsOf(platformWith(place, undefined))).toEqual([
      expect.stringContaining(`CONFIG_VALUE ${place} is missing`),
    ]);
  });
});

const LABEL = "must be a name of lower-case letters, digits and -";
const HOST = "must be a host name in lower case, without scheme or port";
const URL = "must be an http or https URL";
const PATH = 'must be a path that starts with "/", without query or fragment';

test.each<readonly [place: string, value: unknown, why: string]>([
  ["environment", "Production", "must be a name, such as development or production"],
  ["environment", "", "must be a name"],
  ["environment", "x".repeat(64), "must have at most 63 characters"],
  ["model", "", "must have at least 1 character"],
  ["identity.issuer", "id.example.com", URL],
  ["identity.authorization_endpoint", "ftp://id.example.com", URL],
  ["identity.token_endpoint", "http:/x", URL],
  ["identity.end_session_endpoint", "", URL],
  ["identity.jwks_uri", "javascript:alert(1)", URL],
  ["identity.allowed_owners[0]", "", "must have at least 1 character"],
  ["edge.gateway.name", "Edge", LABEL],
  ["edge.gateway.namespace", "edge_system", LABEL],
  ["edge.gateway.class", "-envoy", LABEL],
  ["edge.gateway.class", "x".repeat(64), "must have at most 63 characters"],
  ["edge.listeners", [], "must have at least 1 item"],
  ["edge.listeners[0].name", "", LABEL],
  ["edge.listeners[0].port", 0, "must be at least 1"],
  ["edge.listeners[0].port", 65536, "must be at most 65535"],
  ["edge.listeners[0].protocol", "https", "must be one of HTTPS, HTTP"],
  ["edge.listeners[0].hostname", "*", "must be a host name, or one that starts with *."],
  [
    "edge.listeners[0].hostname",
    "a.*.example.com",
    "must be a host name, or one that starts with *.",
  ],
  ["edge.listeners[0].certificate.name", "tls.pem", LABEL],
  ["edge.listeners[0].certificate.namespace", "", LABEL],
  ["edge.rate_limit", "none", "must be one of local, global"],
  ["services.hub.packages", [], "must have at least 1 item"],
  [
    "services.hub.packages[0]",
    "hub.skills.v1.",
    "must be a protobuf package, such as hub.skills.v1",
  ],
  ["services.hub.packages[0]", "hub/skills", "must be a protobuf package"],
  ["services.hub.packages[0]", "*", "must be a protobuf package"],
  ["services.hub.model", "", "must have at least 1 character"],
  ["clients[0]", "git.v1.", "must be a protobuf package, such as hub.skills.v1"],
  ["clients[0]", "*", "must be a protobuf package"],
  ["services.hub.ports.http", -1, "must be at least 1"],
  ["services.hub.ports.grpc", 70000, "must be at most 65535"],
  ["services.hub.backend", {}, "must have either service or backend"],
  ["services.hub.backend.service.name", "Hub", LABEL],
  ["services.hub.backend.service.namespace", "h.b", LABEL],
  ["services.hub.backend.service.port", 0, "must be at least 1"],
  ["services.iam.backend.backend.name", "", LABEL],
  ["services.iam.backend.backend.namespace", "", LABEL],
  ["services.iam.backend.backend.endpoints", [], "must have at least 1 item"],
  ["services.iam.backend.backend.endpoints[0].address", "", "must have at least 1 character"],
  ["services.iam.backend.backend.endpoints[0].port", 0, "must be at least 1"],
  ["services.hub.authn_mode", "gateway", "must be one of gateway_trusted, idp_jwt"],
  ["services.hub.published_as", "connect", "must be one of http, grpc"],
  ["frontends.web.host", "https://hub.example.com", HOST],
  ["frontends.web.host", "hub.example.com:8443", HOST],
  ["frontends.web.host", "Hub.example.com", HOST],
  ["frontends.web.host", "*.example.com", HOST],
  ["frontends.web.prefix", "app", PATH],
  ["frontends.web.namespace", "", LABEL],
  ["frontends.web.services[0]", "Hub", LABEL],
  ["frontends.web.client_id", "", "must have at least 1 character"],
  ["frontends.web.client_secret.name", "", LABEL],
  ["frontends.web.client_secret.namespace", "", LABEL],
  ["frontends.web.redirect_url", "/v1/authn/exchange", URL],
  ["frontends.web.logout_path", "/logout?all=1", PATH],
  ["services.hub.timeout", "5", "must be a duration"],
  ["services.hub.timeout", "0s", "must be a duration"],
  ["services.hub.timeout", "1.5s", "must be a duration"],
  ["services.hub.timeout", "500h", "must be a duration"],
  ["services.hub.timeout", "1d", "must be a duration"],
  ["edge.login_timeout", "soon", "must be a duration"],
  ["frontends.web.login", "none", "must be one of session, bearer"],
  ["frontends.web.connect", "yes", "must be true or false, not text"],
  ["frontends.web.claims", "all", "must be one of default, console"],
  ["frontends.web.allowed_origins[0]", "*", "must be an origin, such as https://app.example.com"],
  ["frontends.web.allowed_origins[0]", "https://app.example.com/", "must be an origin"],
  ["frontends.web.allowed_origins[0]", "null", "must be an origin"],
  ["frontends.web.backend", {}, "must have either service or backend"],
  ["paths[0].service", "Hub", LABEL],
  ["paths[1].frontend", "Web", LABEL],
  ["paths[0].path", "healthz", PATH],
  ["paths[0].path", "/a b", PATH],
  ["paths[0].path", "/{id}", PATH],
  ["paths[0].path", "/a/*", PATH],
  ["paths[0].match", "regex", "must be one of exact, prefix"],
  ["paths[0].methods", [], "must have at least 1 item"],
  ["paths[0].methods[0]", "get", "must be an HTTP method in upper case, or *"],
  ["paths[0].exposure", "AUTHORIZED", "must be one of PUBLIC, AUTHENTICATED"],
])("%s of %j is refused", (place, value, why) => {
  expect(findingsOf(platformWith(place, value))).toContainEqual(
    expect.stringMatching(new RegExp(`CONFIG_VALUE ${escape(place)} .*${escape(why)}`)),
  );
});

test.each<readonly [place: string, value: unknown, expected: string]>([
  ["environment", 5, 'must be text; write it in quotes, as in "${VAR}"'],
  ["model", true, 'must be text; write it in quotes, as in "${VAR}"'],
  [
    "identity",
    "https://id.example.com",
    "must be a section with keys, not text; its keys are issuer, authorization_endpoint,",
  ],
  ["edge.listeners", { name: "https" }, "must be a list"],
  [
    "edge.listeners[0].certificate",
    "tls",
    "must be a section with keys, not text; its keys are name, namespace",
  ],
  ["edge.backstop", "no", "must be true or false, not text"],
  ["services", ["hub"], "must be a section with keys"],
  ["services.hub.packages", "hub.skills.v1", "must be a list, not text"],
  ["services.hub.packages", null, "is empty; it must be a list, or absent"],
  ["services.hub.model", ["a.zed"], "must be text"],
  ["clients", "git.v1", "must be a list, not text"],
  ["services.hub.packages[0]", 5, "must be text; write it in quotes"],
  ["services.hub.ports.http", "18001", "must be a whole number, not text"],
  ["services.hub.ports.http", 1.5, "must be a whole number"],
  [
    "paths[0]",
    "/healthz",
    "must be a section with keys, not text; its keys are service, frontend,",
  ],
])("%s of %j is of another type: %s", (place, value, expected) => {
  expect(findingsOf(platformWith(place, value))).toEqual([
    expect.stringContaining(`CONFIG_VALUE ${place} ${expected}`),
  ]);
});

test.each<readonly [place: string, value: unknown]>([
  [
    "services.hub.backend",
    {
      service: { name: "a", namespace: "b" },
      backend: { name: "a", namespace: "b", endpoints: [{ address: "x", port: 1 }] },
    },
  ],
  ["paths[0].frontend", "web"],
  ["paths[0].service", undefined],
])("%s of %j does not have exactly one choice", (place, value) => {
  expect(findingsOf(platformWith(place, value))).toEqual([
    expect.stringContaining("must have either service or"),
  ]);
});

test.each<readonly [place: string, hint: string]>([
  ["enviroment", '; did you mean "environment"?'],
  [
    "zones",
    "; the keys are environment, model, identity, edge, services, clients, frontends, paths",
  ],
  ["identity.isuer", '; did you mean "issuer"?'],
  ["edge.gatway", '; did you mean "gateway"?'],
  ["edge.gateway.clas", '; did you mean "class"?'],
  ["edge.listeners[0].host_name", '; did you mean "hostname"?'],
  ["edge.listeners[0].certificate.namspace", '; did you mean "namespace"?'],
  ["services.hub.package", '; did you mean "packages"?'],
  ["services.hub.ports.htp", '; did you mean "http"?'],
  ["services.hub.backend.service.ports", '; did you mean "port"?'],
  ["services.iam.backend.backend.endpoint", '; did you mean "endpoints"?'],
  ["services.iam.backend.backend.endpoints[0].adress", '; did you mean "address"?'],
  ["frontends.web.hosts", '; did you mean "host"?'],
  [
    "frontends.web.secret",
    "; keep secrets in the secret store, and name the Secret in client_secret",
  ],
  ["frontends.web.client_password", "; keep secrets in the secret store"],
  ["frontends.web.client_secret.nam", '; did you mean "name"?'],
  ["paths[1].method", '; did you mean "methods"?'],
])("%s is not a key%s", (place, hint) => {
  expect(findingsOf(platformWith(place, "x"))).toEqual([
    expect.stringContaining(`CONFIG_KEY ${place} is not a key${hint}`),
  ]);
});

test.each(["services.Hub", "services.hub_2", "services.-hub", "frontends.Web"])(
  "%s is not a name",
  (place) => {
    const [group, own] = place.startsWith("services") ? ["services", "hub"] : ["frontends", "web"];
    const value = (fullPlatform() as unknown as Record<string, Record<string, unknown>>)[group]?.[
      own
    ];
    expect(findingsOf(platformWith(place, value))).toEqual([
      expect.stringContaining(`CONFIG_KEY ${place} ${LABEL}`),
    ]);
  },
);

test("a URL that is too long is reported as too long", () => {
  const url = `https://id.example.com/${"x".repeat(2048)}`;
  expect(findingsOf(platformWith("identity.jwks_uri", url))).toEqual([
    expect.stringMatching(/CONFIG_VALUE identity\.jwks_uri .*2048/),
  ]);
});

test("__proto__ is an ordinary key, and not a valid name", () => {
  expect(findingsOf("services: {__proto__: {packages: [a.v1]}}")).toEqual([
    expect.stringContaining(`services.__proto__ ${LABEL}`),
  ]);
  expect(findingsOf("__proto__: {}")).toEqual([expect.stringContaining("__proto__ is not a key")]);
});

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
