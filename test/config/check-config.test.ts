import { describe, expect, test } from "vitest";
import { findingsOf } from "./findings.ts";
import { fullPlatform, platformWith } from "./sample.ts";

type Case = readonly [name: string, place: string, value: unknown, at: string, message: string];

const { services, frontends } = fullPlatform();
const { web } = frontends;

/** The position of a value of the full configuration, as `line:column`: JSON indents by two. */
function placeOf(text: string, key: string): string {
  const lines = text.split("\n");
  const line = lines.findIndex((each) => each.includes(key));
  return `${line + 1}:${(lines[line] ?? "").indexOf(key) + 1}`;
}

test.each<Case>([
  [
    "a package of two services",
    "services.iam.packages",
    ["svc.iam.v1", "hub.skills.v1"],
    "",
    "the package hub.skills.v1 already belongs to hub; only one service serves a package",
  ],
  [
    "a package that a service lists twice",
    "services.hub.packages",
    ["hub.skills.v1", "hub.skills.v1"],
    "",
    "the package hub.skills.v1 already belongs to hub",
  ],
  [
    "a client of a package that a service has",
    "clients",
    ["hub.skills.v1"],
    "",
    "the package hub.skills.v1 belongs to hub, so its clients need no entry here",
  ],
  [
    "a client that is listed twice",
    "clients",
    ["git.v1", "git.v1"],
    "",
    "the package git.v1 is already listed",
  ],
  [
    "a frontend of an unknown service",
    "frontends.web.services",
    ["hub", "ima"],
    '"ima"',
    '"ima" is not a service of this file; did you mean "iam"?',
  ],
  [
    "a service that a frontend lists twice",
    "frontends.web.services",
    ["hub", "hub"],
    "",
    "the frontend web already has hub on hub.example.com",
  ],
  [
    "two frontends that call one service on one host",
    "frontends.admin",
    { ...web, services: ["iam"], redirect_url: "https://hub.example.com/admin/callback" },
    "",
    "the frontend web already has iam on hub.example.com, and a request has only one session; give this frontend its own host",
  ],
  [
    "a redirect URL on another host",
    "frontends.web.redirect_url",
    "https://hub.example.org/callback",
    '"redirect_url"',
    "the redirect URL is on hub.example.org, but the frontend is on hub.example.com",
  ],
  [
    "a redirect URL with a query",
    "frontends.web.redirect_url",
    "https://hub.example.com/callback?x=1",
    '"redirect_url"',
    "a redirect URL must not have a query or fragment",
  ],
  [
    "a redirect URL with a fragment",
    "frontends.web.redirect_url",
    "https://hub.example.com/callback#x",
    '"redirect_url"',
    "a redirect URL must not have a query or fragment",
  ],
  [
    "a redirect URL without a path",
    "frontends.web.redirect_url",
    "https://hub.example.com",
    '"redirect_url"',
    "the redirect URL needs a separate path, such as /oauth2/callback",
  ],
  [
    "a logout path that is the root",
    "frontends.web.logout_path",
    "/",
    '"logout_path"',
    "the logout path must be a separate path, such as /logout",
  ],
  [
    "a logout path that is the callback",
    "frontends.web.logout_path",
    "/v1/authn/exchange",
    '"logout_path"',
    "the logout path must be a separate path",
  ],
  [
    "the Service of a frontend without a port",
    "frontends.web.backend",
    { service: { name: "web", namespace: "web" } },
    "",
    "the Service of a frontend needs a port",
  ],
  [
    "a path with an empty segment",
    "paths[0].path",
    "/a//b",
    '"path": "/a//b"',
    '"/a//b": a segment is empty (character 4)',
  ],
  [
    "an exact path with a last slash",
    "paths[0].path",
    "/a/",
    '"path": "/a/"',
    "a segment is empty",
  ],
  ["a path that climbs", "paths[0].path", "/a/../b", '"path": "/a/../b"', 'the segment ".."'],
  [
    "a path with a broken escape",
    "paths[0].path",
    "/a%zz",
    '"path": "/a%zz"',
    '"%" is not allowed here',
  ],
  [
    "a path with an equals sign",
    "paths[0].path",
    "/a=b",
    '"path": "/a=b"',
    '"=" is not allowed here',
  ],
  [
    "a prefix with a verb",
    "paths[1].path",
    "/a:run",
    '"path": "/a:run"',
    "a prefix cannot end in a verb",
  ],
  [
    "a prefix with two last slashes",
    "paths[1].path",
    "/a//",
    '"path": "/a//"',
    "a segment is empty",
  ],
  [
    "a path of an unknown service",
    "paths[0].service",
    "hubb",
    '"service": "hubb"',
    '"hubb" is not a service of this file; did you mean "hub"?',
  ],
  [
    "a path of an unknown frontend",
    "paths[1].frontend",
    "console",
    '"frontend": "console"',
    '"console" is not a frontend of this file',
  ],
  [
    "an edge without identity",
    "identity",
    undefined,
    '"edge"',
    "edge needs identity, as the gateway logs callers in",
  ],
  [
    "an HTTPS listener without a certificate",
    "edge.listeners[0].certificate",
    undefined,
    "",
    "an HTTPS listener needs certificate, the Secret with its TLS certificate",
  ],
  [
    "an HTTP listener with a certificate",
    "edge.listeners[0].protocol",
    "HTTP",
    '"certificate"',
    "an HTTP listener cannot have a certificate; write protocol: HTTPS",
  ],
  [
    "two listeners of one name",
    "edge.listeners",
    [
      { name: "web", port: 80, protocol: "HTTP" },
      { name: "web", port: 81, protocol: "HTTP" },
    ],
    "",
    "the name web is taken by another listener",
  ],
  [
    "a service of a frontend that the gateway cannot reach",
    "services.hub.backend",
    undefined,
    "",
    "the service hub has no backend; the gateway needs one to forward to",
  ],
])("%s is refused", (_, place, value, key, message) => {
  const text = platformWith(place, value);
  const at = key === "" ? "" : `${placeOf(text, key)} `;
  const [finding, ...more] = findingsOf(text);
  expect(more).toEqual([]);
  expect(finding).toContain(`${at}CONFIG_VALUE `);
  expect(finding).toContain(message);
});

describe("a valid configuration", () => {
  test.each<readonly [name: string, place: string, value: unknown]>([
    ["two services on one host by two frontends", "frontends.web.services", ["hub"]],
    ["a prefix with a last slash", "paths[1].path", "/app/"],
    ["an exact path with a verb", "paths[0].path", "/v1/things:run"],
    ["the root as a prefix", "paths[1].path", "/"],
    ["an HTTP listener", "edge.listeners", [{ name: "web", port: 80, protocol: "HTTP" }]],
    [
      "the Service of a service without a port",
      "services.hub.backend",
      { service: { name: "hub", namespace: "hub" } },
    ],
    [
      "a service without a backend that no frontend calls",
      "services.hub",
      { packages: ["hub.v1"], backend: services.hub.backend },
    ],
    ["a configuration without an edge", "edge", undefined],
    ["a configuration without clients", "clients", undefined],
    ["the IAM API as a client, which it is without", "clients", ["svc.iam.v2", "git.v1"]],
  ])("%s is accepted", (_, place, value) => {
    expect(findingsOf(platformWith(place, value))).toEqual([]);
  });

  test("two frontends may call one service on hosts of their own", () => {
    const redirect_url = "https://admin.example.com/callback";
    const admin = { ...web, host: "admin.example.com", redirect_url };
    expect(findingsOf(platformWith("frontends.admin", admin))).toEqual([]);
  });

  test("without an edge, neither identity nor backends are needed", () => {
    const { environment, paths } = fullPlatform();
    const hub = { packages: ["hub.v1"] };
    const platform = {
      environment,
      services: { hub, iam: { packages: ["iam.v1"] } },
      frontends,
      paths,
    };
    expect(findingsOf(JSON.stringify(platform))).toEqual([]);
  });
});

test("all findings are reported at once, in the order of the file [PLCF-1]", () => {
  const platform = fullPlatform();
  platform.services.iam.packages.push("hub.skills.v1");
  platform.frontends.web.redirect_url = "https://other.example.com/?x=1";
  platform.paths[0] = { ...platform.paths[0], path: "/a//b", service: "nobody" } as never;
  expect(
    findingsOf(JSON.stringify(platform, undefined, 1)).map((finding) =>
      finding.replace(/^\d+:\d+ CONFIG_VALUE /, ""),
    ),
  ).toEqual([
    expect.stringContaining("already belongs to hub"),
    expect.stringContaining("a redirect URL must not have"),
    expect.stringContaining("the redirect URL is on other.example.com"),
    expect.stringContaining("the redirect URL needs a separate path"),
    expect.stringContaining('"nobody" is not a service'),
    expect.stringContaining("a segment is empty"),
  ]);
});
