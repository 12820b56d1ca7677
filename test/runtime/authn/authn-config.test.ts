import { describe, expect, test } from "vitest";
import { IDENTITY_HEADERS } from "../../../src/api/identity-headers.ts";
import {
  authnWarnings,
  checkAuthnConfig,
  peerTrustOf,
} from "../../../src/runtime/authn/check-authn-config.ts";
import { configOf, INTERNAL_TOKEN, SYSTEM_TOKEN } from "./calls.ts";

const trusted = { gateway: { trusted_peers: ["10.0.0.0/8"] } };
const oidc = { issuer: "https://id.example.com", audience: ["client"] };
const endpoint = "iam:19080";
const revocation = { endpoint, token: INTERNAL_TOKEN };
const problems = (authn: object, environment = "staging") =>
  checkAuthnConfig(configOf({ ...authn }, { environment })).map(({ message }) => message);
const warnings = (authn: object, environment = "staging", rest = {}) =>
  authnWarnings(configOf({ ...authn }, { environment, ...rest }));

/** Headers that cannot carry a secret: they have another meaning, proxies change them, or they are logged. */
const OTHER_HEADERS = [
  ..."authorization connection content-encoding content-length content-type cookie".split(" "),
  ..."expect forwarded grpc-timeout host http2-settings keep-alive origin proxy-authorization"
    .concat(" proxy-connection")
    .split(" "),
  ..."referer sec-fetch-site te traceparent tracestate trailer transfer-encoding".split(" "),
  ..."upgrade user-agent via x-forwarded-for x-forwarded-host x-forwarded-proto".split(" "),
  ..."x-request-id x-trace-id".split(" "),
];

const refusedIn = (environment: string) =>
  `refused in environment ${environment}: only development and test allow it`;
const MISSING_PEERS = (mode: string) =>
  `security.authn.gateway.trusted_peers is missing: the mode ${mode} needs the addresses of the gateway, such as 10.1.2.0/24, or the names of its certificate`;
const EVERYBODY =
  "security.authn.gateway.trusted_peers contains every address; name the gateway's own, or write security.authn.gateway.allow_any_peer: true";

describe("a service does not start with [AUTHN-12]", () => {
  test.each<[string, object, string, string[]]>([
    ["no trusted peers by default [HDR-3]", {}, "staging", [MISSING_PEERS("gateway_trusted")]],
    ["no trusted peers in production", {}, "production", [MISSING_PEERS("gateway_trusted")]],
    ["no trusted peers with hybrid", { mode: "hybrid", oidc }, "dev", [MISSING_PEERS("hybrid")]],
    [
      "hybrid without any configuration",
      { mode: "hybrid" },
      "staging",
      [
        MISSING_PEERS("hybrid"),
        "security.authn.oidc is missing: the mode hybrid needs its issuer and audience",
      ],
    ],
    [
      "idp_jwt without oidc",
      { mode: "idp_jwt" },
      "staging",
      ["security.authn.oidc is missing: the mode idp_jwt needs its issuer and audience"],
    ],
    [
      "revocations, and no tokens that they could be of",
      { ...trusted, revocation },
      "staging",
      [
        "security.authn.revocation is given, but the mode gateway_trusted reads no tokens; write mode: idp_jwt or hybrid, or remove it",
      ],
    ],
    ["revocations of tokens", { mode: "idp_jwt", oidc, revocation }, "staging", []],
    [
      "revocations over plain text with a CA",
      { mode: "idp_jwt", oidc, revocation: { ...revocation, insecure: true, ca_file: "ca.pem" } },
      "staging",
      [
        "security.authn.revocation.ca_file is given, but insecure is true: IAM would be called without TLS; remove one of them",
      ],
    ],
    [
      "a token file that is not there",
      { mode: "idp_jwt", oidc, revocation: { endpoint, token_file: "/nowhere/token" } },
      "staging",
      [
        expect.stringMatching(
          /^security\.authn\.revocation\.token_file \(\/nowhere\/token\) /,
        ) as unknown as string,
      ],
    ],
    ["all peers trusted", { gateway: { trusted_peers: ["0.0.0.0/0"] } }, "staging", [EVERYBODY]],
    [
      "all peers trusted, in development",
      { gateway: { trusted_peers: ["::/0"] } },
      "development",
      [EVERYBODY],
    ],
    [
      "all peers trusted, in two halves [HDR-3]",
      { gateway: { trusted_peers: ["0.0.0.0/1", "128.0.0.0/1"] } },
      "staging",
      [EVERYBODY],
    ],
    [
      "malformed peers, each with its key",
      { gateway: { trusted_peers: ["10.0.0.1/8", "10.0.0.0/8", "1.2.3.4.5"] } },
      "staging",
      [
        'security.authn.gateway.trusted_peers[0]: "10.0.0.1/8" has bits beyond its prefix of 8; write the first address of the block',
        'security.authn.gateway.trusted_peers[2]: "1.2.3.4.5" is not an IP address or CIDR block',
      ],
    ],
    [
      "disabled in production",
      { mode: "disabled" },
      "production",
      [`security.authn.mode is disabled; that is ${refusedIn("production")}`],
    ],
    [
      "disabled in staging",
      { mode: "disabled" },
      "staging",
      [`security.authn.mode is disabled; that is ${refusedIn("staging")}`],
    ],
    [
      "switched off in an environment with a name like development",
      { enabled: false },
      "dev",
      [`security.authn.enabled is false; that is ${refusedIn("dev")}`],
    ],
    [
      "switched off in prod",
      { enabled: false },
      "prod",
      [`security.authn.enabled is false; that is ${refusedIn("prod")}`],
    ],
    [
      "2 internal calls without a token",
      { ...trusted, internal_call: { enabled: true } },
      "staging",
      ["security.authn.internal_call.token is missing: internal calls are enabled without a token"],
    ],
    [
      "2 the system token for internal calls",
      {
        ...trusted,
        internal_call: { enabled: true, token: INTERNAL_TOKEN, system_token: INTERNAL_TOKEN },
      },
      "staging",
      [
        "security.authn.internal_call.system_token is an internal token, too; SYSTEM calls need a token of their own",
      ],
    ],
    [
      "2 one token for two services, and an invalid service",
      {
        ...trusted,
        internal_call: {
          enabled: true,
          token: [
            { service: "hub", token: INTERNAL_TOKEN },
            { service: "hub", token: INTERNAL_TOKEN },
            { service: "runner", token: INTERNAL_TOKEN },
            { service: "a b", token: SYSTEM_TOKEN },
            { service: "git", token: INTERNAL_TOKEN },
          ],
        },
      },
      "staging",
      [
        "security.authn.internal_call.token[3].service must have no white space, # or *, in ASCII",
        "security.authn.internal_call.token[2].token is that of hub too; each service needs its own",
        "security.authn.internal_call.token[4].token is that of hub too; each service needs its own",
      ],
    ],
    [
      "a service with the name of the SYSTEM caller",
      {
        ...trusted,
        internal_call: { enabled: true, token: [{ service: "system", token: INTERNAL_TOKEN }] },
      },
      "staging",
      [
        "security.authn.internal_call.token[0].service: system is reserved for SYSTEM calls; give the service another name",
      ],
    ],
    [
      "a header that every line of the access log contains",
      { ...trusted, internal_call: { header: "User-Agent" } },
      "staging",
      [
        "security.authn.internal_call.header: User-Agent has another meaning; use X-Svc-Internal-Token",
      ],
    ],
    [
      "a header with another meaning",
      { ...trusted, internal_call: { header: "X-Svc-User-Id" } },
      "staging",
      [
        "security.authn.internal_call.header: X-Svc-User-Id has another meaning; use X-Svc-Internal-Token",
      ],
    ],
  ])("%s", (_name, authn, environment, expected) => {
    const found = problems(authn, environment);
    expect(found).toEqual(expected);
    expect(JSON.stringify(found)).not.toContain(INTERNAL_TOKEN);
  });

  test.each<[object, (string | number)[]]>([
    [{ gateway: { trusted_peers: ["x y"] } }, ["gateway", "trusted_peers", 0]],
    [{}, ["gateway", "trusted_peers"]],
    [{ gateway: { trusted_peers: ["::/0"] } }, ["gateway", "trusted_peers"]],
    [{ mode: "idp_jwt" }, ["oidc"]],
    [{ ...trusted, internal_call: { enabled: true } }, ["internal_call", "token"]],
    [{ ...trusted, internal_call: { header: "Cookie" } }, ["internal_call", "header"]],
    [
      { ...trusted, internal_call: { token: INTERNAL_TOKEN, system_token: INTERNAL_TOKEN } },
      ["internal_call", "system_token"],
    ],
    [
      { ...trusted, internal_call: { token: [{ service: "a b", token: INTERNAL_TOKEN }] } },
      ["internal_call", "token", 0, "service"],
    ],
    [
      { ...trusted, internal_call: { token: [{ service: "system", token: INTERNAL_TOKEN }] } },
      ["internal_call", "token", 0, "service"],
    ],
    [
      {
        ...trusted,
        internal_call: {
          token: [
            { service: "hub", token: INTERNAL_TOKEN },
            { service: "git", token: INTERNAL_TOKEN },
          ],
        },
      },
      ["internal_call", "token", 1, "token"],
    ],
  ])("paths lead to the key: %j", (authn, path) => {
    const found = checkAuthnConfig(configOf({ ...authn }));
    expect(found.map((problem) => problem.path)).toEqual([["security", "authn", ...path]]);
  });

  test("paths lead to the switches", () => {
    for (const [authn, key] of [
      [{ enabled: false }, "enabled"],
      [{ mode: "disabled" }, "mode"],
    ] as const) {
      const found = checkAuthnConfig(configOf({ ...authn }, { environment: "production" }));
      expect(found.map(({ path }) => path)).toEqual([["security", "authn", key]]);
    }
  });

  test("2 the schema refuses an empty token", () => {
    for (const token of ["", "short", [{ service: "hub", token: "short" }]]) {
      expect(() => configOf({ internal_call: { enabled: true, token } })).toThrow();
    }
    for (const [change, path] of [
      [{ token: "" }, ["token"]],
      [{ system_token: "" }, ["system_token"]],
    ] as const) {
      const config = configOf({ ...trusted, internal_call: { token: INTERNAL_TOKEN } });
      const internal = config.security.authn.internal_call;
      config.security.authn.internal_call = { ...internal, ...change };
      const message = `security.authn.internal_call.${path[0]} must not be empty`;
      expect(checkAuthnConfig(config)).toEqual([
        { path: ["security", "authn", "internal_call", ...path], message },
      ]);
    }
  });

  describe("empty entries of a list are skipped, and an enabled list needs a non-empty one", () => {
    const empty = { service: "hub", token: "" };
    const full = { service: "hub", token: INTERNAL_TOKEN };
    const ALL_EMPTY =
      "security.authn.internal_call.token is missing: all tokens are empty; set one";
    const NO_SYSTEM =
      "security.authn.internal_call.system_token is missing: all tokens are empty; set one";
    test.each<[string, object, string[], string[]]>([
      ["the only one empty", { token: [empty] }, [ALL_EMPTY], ["hub"]],
      ["both empty", { token: [empty, empty] }, [ALL_EMPTY], ["hub", "hub"]],
      [
        "both lists empty",
        { token: [empty], system_token: ["", ""] },
        [ALL_EMPTY, NO_SYSTEM],
        ["hub"],
      ],
      [
        "the services' empty, beside a system token",
        { token: [empty, empty], system_token: SYSTEM_TOKEN },
        [ALL_EMPTY],
        ["hub", "hub"],
      ],
      [
        "the system's empty, beside a token",
        { token: [full], system_token: [""] },
        [NO_SYSTEM],
        [],
      ],
      ["only the system's, empty", { system_token: ["", ""] }, [NO_SYSTEM], []],
      ["only the next one empty", { token: [full, empty] }, [], []],
      ["only the former one empty", { token: [empty, full] }, [], []],
      [
        "that of another service empty",
        { token: [full, { ...empty, service: "git" }] },
        [],
        ["git"],
      ],
      ["the next one of the system empty", { system_token: [SYSTEM_TOKEN, ""] }, [], []],
      [
        "the service of an empty one is validated",
        { token: [full, { ...empty, service: "a b" }] },
        [
          "security.authn.internal_call.token[1].service must have no white space, # or *, in ASCII",
        ],
        ["a b"],
      ],
      [
        "the token of a service among those of the system",
        { token: [full], system_token: ["", INTERNAL_TOKEN] },
        [
          "security.authn.internal_call.system_token[1] is an internal token, too; SYSTEM calls need a token of their own",
        ],
        [],
      ],
    ])("%s", (_name, internal_call, expected, mute) => {
      const authn = { ...trusted, internal_call: { enabled: true, ...internal_call } };
      expect(problems(authn)).toEqual(expected);
      expect(warnings(authn)).toEqual(
        mute.map((service) => expect.stringContaining(`is empty, and ${service} has no other`)),
      );
    });
  });

  test.each<[string, object]>([
    ["a file beside a token", { token: INTERNAL_TOKEN, token_file: "a" }],
    [
      "a file beside a list",
      { token: [{ service: "hub", token: INTERNAL_TOKEN }], token_file: "a" },
    ],
  ])("%s", (_name, internal_call) => {
    expect(problems({ ...trusted, internal_call })).toEqual([
      expect.stringContaining("_file must be absent if"),
    ]);
  });

  test("no identity header, and no header with another meaning, may carry tokens", () => {
    for (const header of [...IDENTITY_HEADERS, ...OTHER_HEADERS]) {
      const isOwn = header === "x-svc-internal-token";
      const found = problems({ ...trusted, internal_call: { header: header.toUpperCase() } });
      expect(found, header).toHaveLength(isOwn ? 0 : 1);
    }
  });

  test.each<[string, object, string]>([
    ["trusted peers", trusted, "production"],
    ["loopback in development", {}, "development"],
    [
      "all peers, explicitly",
      { gateway: { trusted_peers: ["0.0.0.0/0"], allow_any_peer: true } },
      "production",
    ],
    ["tokens alone", { mode: "idp_jwt", oidc }, "production"],
    ["disabled", { mode: "disabled" }, "test"],
    ["switched off", { enabled: false }, "development"],
    ["switched off, so that nothing is missing", { enabled: false, mode: "idp_jwt" }, "test"],
    [
      "a token for each service, and another for the system",
      {
        ...trusted,
        internal_call: {
          enabled: true,
          token: [
            { service: "hub", token: INTERNAL_TOKEN },
            { service: "git", token: `${INTERNAL_TOKEN}-2` },
          ],
          system_token: SYSTEM_TOKEN,
        },
      },
      "production",
    ],
    [
      "only a system token",
      { ...trusted, internal_call: { enabled: true, system_token: SYSTEM_TOKEN } },
      "prod",
    ],
  ])("%s is fine", (_name, authn, environment) => {
    expect(problems(authn, environment)).toEqual([]);
  });
});

describe("warnings at each start [AUTHN-12]", () => {
  test.each<[string, object, string, string[]]>([
    ["nothing", trusted, "production", []],
    [
      "disabled",
      { mode: "disabled" },
      "dev",
      ["security.authn.mode is disabled: callers are not authenticated"],
    ],
    [
      "switched off",
      { enabled: false },
      "dev",
      ["security.authn.enabled is false: callers are not authenticated"],
    ],
    [
      "loopback",
      {},
      "development",
      ["security.authn.gateway.trusted_peers is not given: in development, loopback is trusted"],
    ],
    [
      "everybody",
      { gateway: { trusted_peers: ["::/0"], allow_any_peer: true } },
      "staging",
      [
        "security.authn.gateway.trusted_peers contains every address, so any client that reaches the service can claim any identity",
      ],
    ],
    [
      "names without certificates",
      { gateway: { trusted_peers: ["gateway.internal"] } },
      "staging",
      [
        "security.authn.gateway.trusted_peers has certificate names, but no server has tls.client_ca_file",
      ],
    ],
    [
      "names of any host without certificates",
      { gateway: { trusted_peers: ["*.edge.internal"] } },
      "staging",
      [
        "security.authn.gateway.trusted_peers has certificate names, but no server has tls.client_ca_file",
      ],
    ],
    [
      "tokens that are not accepted",
      { ...trusted, internal_call: { token: INTERNAL_TOKEN } },
      "staging",
      ["security.authn.internal_call.enabled is false: its tokens are not accepted"],
    ],
    [
      "a system token that is not accepted",
      { ...trusted, internal_call: { system_token: SYSTEM_TOKEN } },
      "staging",
      ["security.authn.internal_call.enabled is false: its tokens are not accepted"],
    ],
    [
      "tokens that are accepted",
      {
        ...trusted,
        internal_call: { enabled: true, token: INTERNAL_TOKEN, system_token: SYSTEM_TOKEN },
      },
      "production",
      [],
    ],
  ])("%s", (_name, authn, environment, expected) => {
    expect(warnings(authn, environment)).toEqual(expected);
  });
});

test.each(["http", "grpc"])("names are allowed if one server requests certificates: %s", (one) => {
  const tls = { certificate_file: "a.crt", key_file: "a.key", client_ca_file: "ca.crt" };
  const server = {
    http: { address: "127.0.0.1:0" },
    grpc: { address: "127.0.0.1:0" },
    [one]: { address: "127.0.0.1:0", tls },
  };
  const authn = { gateway: { trusted_peers: ["gateway.internal"] } };
  expect(warnings(authn, "staging", { server })).toEqual([]);
});

describe("the trust of a configuration [HDR-3]", () => {
  test("is loopback only in development, without configured peers, in a mode with headers", () => {
    const trusts = (authn: object, environment: string) =>
      peerTrustOf(configOf({ ...authn }, { environment })).trustsAddress("127.0.0.1");
    expect(trusts({}, "development")).toBe(true);
    expect(trusts({}, "dev")).toBe(false);
    expect(trusts(trusted, "development")).toBe(false);
    expect(trusts({ mode: "idp_jwt", oidc }, "development")).toBe(false);
  });

  test("is not built from an invalid configuration", () => {
    for (const peers of [["x y"], ["0.0.0.0/0"]]) {
      expect(() => peerTrustOf(configOf({ gateway: { trusted_peers: peers } }))).toThrow(
        "not valid",
      );
    }
  });
});

test("what weakens revocations is warned of", () => {
  const weak = {
    mode: "idp_jwt",
    oidc,
    revocation: { ...revocation, on_loss: "serve", insecure: true },
  };
  expect(warnings(weak)).toEqual([
    "security.authn.revocation.on_loss is serve: while revocations are not known, revoked tokens are accepted",
    "security.authn.revocation.insecure is true: the internal token is sent in plain text",
  ]);
  expect(warnings(weak, "development")).toHaveLength(1);
  expect(warnings({ mode: "idp_jwt", oidc, revocation })).toEqual([]);
});

test.each<[string, object]>([
  ["no address", { token: INTERNAL_TOKEN }],
  ["no token", { endpoint }],
  ["two tokens", { ...revocation, token_file: "token" }],
  ["an empty token", { endpoint, token: "" }],
  ["a URL", { ...revocation, endpoint: "https://iam:19080" }],
  ["no port", { ...revocation, endpoint: "iam" }],
  ["a certificate without its key", { ...revocation, certificate_file: "one.pem" }],
  ["another way to lose it", { ...revocation, on_loss: "ignore" }],
  ["no room", { ...revocation, max_entries: 0 }],
  ["endless room", { ...revocation, max_entries: 1e9 }],
])("revocations with %s are refused", (_, wrong) => {
  expect(() => configOf({ mode: "idp_jwt", oidc, revocation: wrong })).toThrow();
});

test("a Casdoor without TLS is warned of outside development", () => {
  const casdoor = (endpoint: string) => ({
    mode: "idp_jwt",
    oidc,
    provider: "casdoor",
    casdoor: {
      endpoint,
      organization_name: "acme",
      application_name: "app-iam",
      client_id: "id",
      client_secret: "a secret",
    },
  });
  const expected =
    "security.authn.casdoor.endpoint is not https: the client secret and tokens are sent in plain text";
  for (const endpoint of ["http://casdoor:8000", "HTTP://casdoor:8000"]) {
    expect(warnings(casdoor(endpoint))).toEqual([expected]);
    expect(warnings(casdoor(endpoint), "development")).toEqual([]);
  }
  expect(warnings(casdoor("https://casdoor:8000"))).toEqual([]);
});
