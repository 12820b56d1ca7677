import { accessRouteConflict } from "../../src/rules/access-route-conflict.ts";
import { BOTH, frontend, ONE_AND_TWO, platform } from "./platforms.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc, streamRpc } from "./sources.ts";

const PUBLISHED = policy("exposure: AUTHENTICATED gateway: {publish: true}");
const UNPUBLISHED = policy("exposure: AUTHENTICATED");

/** RPCs `R0`, `R1`, … by the content of their `google.api.http`. */
const bound = (...rules: string[]) =>
  rules.map((rule, index) => rpc(`R${index}`, http(rule), UNPUBLISHED)).join("");

/** The same, with the finding at the last one. */
const conflicting = (first: string, second: string) =>
  rpc("R0", http(first), UNPUBLISHED) + rpc("R1", http(second, "⟦"), UNPUBLISHED);

const published = (name: string, path: string, mark = "") =>
  rpc(name, http(`get: "${path}"`, mark), PUBLISHED);

const ONE_HOST = [
  frontend("web", { host: "example.com", services: "one" }),
  frontend("admin", { host: "example.com", services: "two" }),
];

testRule(accessRouteConflict, {
  shows: "no two routes of equal rank take one request [COMP-4]",
  valid: [
    bound('get: "/v1/x"', 'post: "/v1/x"', 'custom: {kind: "HEAD", path: "/v1/x"}'),
    bound('get: "/v1/x"', 'get: "/v1/x:run"', 'get: "/v1/x:stop"', 'get: "/v1/x/run"'),
    bound('get: "/v1/{id}"', 'get: "/v1/me"'),
    bound('get: "/v1/{id}"', 'get: "/v1/**"', 'get: "/**"'),
    bound('get: "/v1/{id}"', 'get: "/v1/{id}:run"'),
    bound('get: "/v1/{id}/x"', 'get: "/v1/x/{id}"'),
    bound('get: "/v1/{id=projects/*}"', 'get: "/v1/{id=users/*}"', 'get: "/v1/{id=projects/*/x}"'),
    bound('get: "/v1/{id=**}:run"', 'get: "/v1/{id=**}:stop"', 'get: "/v1/{id=**}"'),
    bound('get: "/v1/x"', 'get: "/v1"', 'get: "/"'),
    { name: "literals that differ in case", rpcs: bound('get: "/v1/x"', 'get: "/v1/X"') },
    {
      name: "an RPC that binds one request twice",
      rpcs: bound(
        'get: "/v1/{id}" additional_bindings {get: "/v1/{maybe}"} additional_bindings {get: "/v1/{id}"}',
      ),
    },
    {
      name: "a rule that does not parse, which another rule reports",
      rpcs: bound('get: "x"', 'get: "x"'),
    },
    {
      name: "the own full name, the full name of an RPC elsewhere, and another method",
      rpcs:
        rpc("Own", http('post: "/CASE.v1.S/Own"'), UNPUBLISHED) +
        rpc("Far", http('post: "/far.v1.S/Get"'), UNPUBLISHED) +
        rpc("Put", http('put: "/CASE.v1.S/Far"'), UNPUBLISHED),
    },
    {
      name: "probes in other places, and whatever a variable takes",
      rpcs: bound('get: "/v1/healthz"', 'get: "/{id}"', 'get: "/readyz:run"'),
    },
    { name: "RPCs without bindings", rpcs: rpc("A", PUBLISHED) + rpc("B", PUBLISHED) + rpc("C") },
    {
      name: "two packages that are not deployed as one",
      rpcs: bound('get: "/v1/x"'),
      otherRpcs: bound('get: "/v1/x"'),
    },
    {
      name: "two services without a common host",
      rpcs: published("A", "/v1/x"),
      otherRpcs: published("B", "/v1/x"),
      config: platform(ONE_AND_TWO, [
        frontend("web", { services: "one" }),
        frontend("admin", { services: "two" }),
      ]),
    },
    {
      name: "what only one of two services publishes on their host",
      rpcs: published("A", "/v1/x"),
      otherRpcs: bound('get: "/v1/x"'),
      config: platform(ONE_AND_TWO, ONE_HOST),
    },
    {
      name: "one service on two hosts",
      rpcs: published("A", "/v1/x"),
      config: platform("services: { one: { packages: [CASE.v1] } }", [
        frontend("web", { services: "one" }),
        frontend("admin", { services: "one" }),
      ]),
    },
    {
      name: "a declared path of other methods",
      rpcs: bound('get: "/v1/x"'),
      config: platform(
        ONE_AND_TWO,
        [],
        ["service: one, path: /v1/x, methods: [POST, PUT], exposure: PUBLIC"],
      ),
    },
    {
      name: "a declared path of another service, and RPCs below a declared prefix",
      rpcs: bound('get: "/v1/x"', 'get: "/v1/x/{id}"', 'get: "/pages"'),
      config: platform(
        ONE_AND_TWO,
        [],
        [
          "service: two, path: /v1/x, exposure: PUBLIC",
          "service: one, path: /, match: prefix, exposure: AUTHENTICATED",
          "service: one, path: /pages, match: prefix, exposure: AUTHENTICATED",
        ],
      ),
    },
    {
      name: "a service that is published as gRPC beside an HTTP path that it only binds",
      rpcs: published("A", "/v1/x"),
      otherRpcs: published("B", "/v1/x"),
      config: platform(
        "services: { one: { packages: [CASE.v1], published_as: grpc }, two: { packages: [CASE.other.v1] } }",
        ONE_HOST,
      ),
    },
  ],
  invalid: [
    {
      name: "the full name of an unpublished RPC, where Connect serves it",
      rpcs:
        rpc("Hidden", UNPUBLISHED) +
        rpc("Trick", http('post: "/CASE.v1.S/Hidden"', "⟦"), PUBLISHED),
      messages: [
        "CASE.v1.S/Trick claims /CASE.v1.S/Hidden, where CASE.v1 answers CASE.v1.S/Hidden (CASE.proto:7:1) by Connect and gRPC-Web; change the path",
      ],
    },
    {
      name: "that of an RPC with a route of its own, for any method",
      rpcs:
        rpc("Hidden", http('get: "/v1/x"'), UNPUBLISHED) +
        rpc("Trick", http('custom: {kind: "*", path: "/CASE.v1.S/Hidden"}', "⟦"), UNPUBLISHED),
      messages: ["claims /CASE.v1.S/Hidden, where CASE.v1 answers CASE.v1.S/Hidden"],
    },
    ...["GET", "HEAD"].map((kind) => ({
      name: `that of an RPC that Connect reads by ${kind}`,
      rpcs:
        rpc(
          "Hidden",
          http('get: "/v1/x"'),
          "option idempotency_level = NO_SIDE_EFFECTS;",
          UNPUBLISHED,
        ) +
        rpc(
          "Trick",
          http(`custom: {kind: "${kind}", path: "/CASE.v1.S/Hidden"}`, "⟦"),
          UNPUBLISHED,
        ),
      messages: ["claims /CASE.v1.S/Hidden, where CASE.v1 answers CASE.v1.S/Hidden"],
    })),
    {
      name: "that of a published RPC, which has a route there: reported once",
      rpcs:
        rpc("Shown", PUBLISHED) + rpc("Trick", http('post: "/CASE.v1.S/Shown"', "⟦"), UNPUBLISHED),
      messages: ["both claim POST /CASE.v1.S/Shown on the service CASE.v1"],
    },
    {
      name: "a declared path at the full name of an RPC",
      rpcs: rpc("Hidden", UNPUBLISHED),
      config: platform(
        ONE_AND_TWO,
        [],
        ["service: one, ⟦path: /CASE.v1.S/Hidden, methods: [GET, POST], exposure: PUBLIC"],
      ),
      messages: ["the path /CASE.v1.S/Hidden claims /CASE.v1.S/Hidden, where one answers"],
    },
    ...["/healthz", "/readyz"].map((path) => ({
      name: `the probe ${path}`,
      rpcs: rpc("R0", http(`get: "${path}"`, "⟦"), UNPUBLISHED),
      messages: [`claims ${path}, which every service answers with its health; change the path`],
    })),
    {
      name: "one path twice, with the names of both RPCs, the request and the scope",
      rpcs: rpc("R0", http('get: "/v1/x"')) + rpc("R1", http('get: "/v1/x"', "⟦")),
      package: "hub.skills.v1",
      messages: [
        "hub.skills.v1.S/R1 and hub.skills.v1.S/R0 (CASE.proto:8:12) both claim GET /v1/x on the service hub.skills.v1; change one path",
      ],
    },
    {
      rpcs: conflicting('get: "/v1/{id}"', 'get: "/v1/{inner.id}"'),
      messages: ["both claim GET /v1/x on"],
    },
    {
      rpcs: conflicting('get: "/v1/{id=projects/*}"', 'get: "/v1/projects/{id}"'),
      messages: ["both claim GET /v1/projects/x on"],
    },
    {
      rpcs: conflicting('get: "/v1/{id=projects/**}"', 'get: "/v1/projects/{maybe=**}"'),
      messages: ["both claim GET /v1/projects/x on"],
    },
    {
      rpcs: conflicting('get: "/v1/{id=**}:run"', 'get: "/v1/**:run"'),
      messages: ["both claim GET /v1/x:run on"],
    },
    { rpcs: conflicting('post: "/v1/x:run"', 'post: "/v1/x:run"'), messages: ["POST /v1/x:run"] },
    { rpcs: conflicting('get: "/"', 'get: "/"'), messages: ["both claim GET / on"] },
    {
      name: "a custom pattern of a method that has a field of its own",
      rpcs: conflicting('get: "/v1/x"', 'custom: {kind: "GET", path: "/v1/x"}'),
      messages: ["both claim GET /v1/x"],
    },
    {
      name: "a custom method",
      rpcs: conflicting(
        'custom: {kind: "HEAD", path: "/v1/x"}',
        'custom: {kind: "HEAD", path: "/v1/x"}',
      ),
      messages: ["both claim HEAD /v1/x"],
    },
    {
      name: "any method against one",
      rpcs: conflicting('put: "/v1/x"', 'custom: {kind: "*", path: "/v1/x"}'),
      messages: ["both claim PUT /v1/x"],
    },
    {
      name: "one method against any",
      rpcs: conflicting('custom: {kind: "*", path: "/v1/x"}', 'put: "/v1/x"'),
      messages: ["both claim PUT /v1/x"],
    },
    {
      name: "any method twice",
      rpcs: conflicting('custom: {kind: "*", path: "/v1/x"}', 'custom: {kind: "*", path: "/v1/x"}'),
      messages: ["both claim GET /v1/x"],
    },
    {
      name: "an additional binding",
      rpcs:
        rpc("A", http('get: "/v1/x"')) +
        rpc("B", http('get: "/v1/y" ⟦additional_bindings {get: "/v1/x"}')),
      messages: ["both claim GET /v1/x"],
    },
    {
      name: "each binding that conflicts",
      rpcs:
        rpc("A", http('get: "/v1/x" additional_bindings {get: "/v1/y"}')) +
        rpc("B", http('get: "/v1/y" ⟦additional_bindings {get: "/v1/x"}', "⟦")),
      messages: ["both claim GET /v1/y", "both claim GET /v1/x"],
    },
    {
      name: "each RPC after the first",
      rpcs:
        rpc("A", http('get: "/v1/x"')) +
        rpc("B", http('get: "/v1/x"', "⟦")) +
        rpc("C", http('get: "/v1/x"', "⟦")),
      messages: ["S/B and", "S/C and"],
    },
    {
      name: "a path that another RPC has without google.api.http",
      rpcs: rpc("A", PUBLISHED) + rpc("B", http('post: "/CASE.v1.S/A"', "⟦")),
      messages: ["both claim POST /"],
    },
    {
      name: "at its policy, the RPC without google.api.http",
      rpcs:
        rpc("A", http('post: "/CASE.v1.S/B"')) +
        rpc("B", policy("exposure: AUTHENTICATED gateway: {publish: true}", "⟦")),
      messages: ["S/B and"],
    },
    {
      name: "two services of one package",
      rpcs: rpc("A", http('get: "/v1/x"')),
      declarations: `service T {${rpc("B", http('get: "/v1/x"', "⟦"))}}`,
      messages: ["T/B and"],
    },
    {
      name: "two packages of one deployed service",
      rpcs: rpc("A", http('get: "/v1/x"', "⟦")),
      otherRpcs: rpc("B", http('get: "/v1/x"')),
      config: BOTH,
      messages: ["both claim GET /v1/x on the service both"],
    },
    {
      name: "two services that publish on one host",
      rpcs: published("A", "/v1/x", "⟦"),
      otherRpcs: published("B", "/v1/x"),
      config: platform(ONE_AND_TWO, ONE_HOST),
      messages: ["both claim GET /v1/x on the host example.com"],
    },
    {
      name: "two services of one frontend",
      rpcs: published("A", "/v1/x"),
      otherRpcs: published("B", "/v1/x", "⟦"),
      config: platform(ONE_AND_TWO, [frontend("web", { services: "one, two" })]),
      messages: ["both claim GET /v1/x on the host web.example.com"],
    },
    {
      name: "once what conflicts in a service and on two hosts",
      rpcs: published("A", "/v1/x") + published("B", "/v1/x", "⟦"),
      config: platform("services: { one: { packages: [CASE.v1] } }", [
        frontend("web", { services: "one" }),
        frontend("admin", { services: "one" }),
      ]),
      messages: ["both claim GET /v1/x on the service one"],
    },
    {
      name: "a declared path of the service of an RPC",
      rpcs: bound('get: "/v1/x"'),
      config: platform(ONE_AND_TWO, [], ["service: one, ⟦path: /v1/x, exposure: PUBLIC"]),
      messages: ["the path /v1/x of one and case"],
    },
    {
      name: "a declared path with a colon against a verb",
      rpcs: bound('get: "/v1/x:run"'),
      config: platform(ONE_AND_TWO, [], ["service: one, ⟦path: /v1/x:run, exposure: PUBLIC"]),
      messages: ["both claim GET /v1/x:run"],
    },
    {
      name: "a declared path of any method",
      rpcs: bound('delete: "/v1/x"'),
      config: platform(
        ONE_AND_TWO,
        [],
        ['service: one, ⟦path: /v1/x, methods: ["*"], exposure: PUBLIC'],
      ),
      messages: ["both claim DELETE /v1/x"],
    },
    {
      name: "a declared prefix against the same wildcard",
      rpcs: bound('get: "/v1/x/**"'),
      config: platform(
        ONE_AND_TWO,
        [],
        ["service: one, ⟦path: /v1/x, match: prefix, exposure: AUTHENTICATED"],
      ),
      messages: ["both claim GET /v1/x"],
    },
    {
      name: "a declared path of a frontend against what is published on its host",
      rpcs: published("A", "/v1/x"),
      config: platform(ONE_AND_TWO, ONE_HOST, [
        "frontend: admin, path: /v1/y, exposure: PUBLIC",
        "frontend: web, ⟦path: /v1/x, exposure: PUBLIC",
      ]),
      messages: ["the path /v1/x of web and"],
    },
    {
      name: "a declared path that two frontends of one host have",
      rpcs: rpc("A"),
      config: platform(ONE_AND_TWO, ONE_HOST, [
        "frontend: web, ⟦path: /callback, exposure: PUBLIC",
        "frontend: admin, path: /callback, exposure: PUBLIC",
      ]),
      messages: [
        "the path /callback of web and the path /callback of admin (svc-access.yaml:7:24) both claim GET /callback",
      ],
    },
    {
      name: "a prefix with and without its last slash",
      rpcs: rpc("A"),
      config: platform(
        ONE_AND_TWO,
        [],
        [
          "service: one, path: /pages, match: prefix, exposure: PUBLIC",
          "service: one, ⟦path: /pages/, match: prefix, exposure: PUBLIC",
        ],
      ),
      messages: ["the path /pages/ of one and the path /pages of one"],
    },
    {
      name: "each entry of a path that is declared three times",
      rpcs: rpc("A"),
      config: platform(
        ONE_AND_TWO,
        [],
        [
          "service: one, path: /healthz, exposure: PUBLIC",
          "service: one, ⟦path: /healthz, exposure: PUBLIC",
          "service: one, ⟦path: /healthz, exposure: PUBLIC",
        ],
      ),
      messages: ["both claim GET /healthz", "both claim GET /healthz"],
    },
    {
      name: "health paths of two services on one host",
      rpcs: rpc("A"),
      otherRpcs: rpc("B"),
      config: platform(ONE_AND_TWO, ONE_HOST, [
        "service: one, ⟦path: /healthz, exposure: PUBLIC",
        "service: two, path: /healthz, exposure: PUBLIC",
      ]),
      messages: [
        "the path /healthz of one and the path /healthz of two (svc-access.yaml:7:21) both claim GET /healthz on the host example.com",
      ],
    },
    {
      name: "a method that is published as gRPC against a declared path",
      rpcs: streamRpc("stream Request", "Response", PUBLISHED),
      config: platform(
        "services: { one: { packages: [CASE.v1], published_as: grpc } }",
        [frontend("web", { services: "one" })],
        ["frontend: web, ⟦path: /CASE.v1.S/Stream, methods: [POST], exposure: PUBLIC"],
      ),
      messages: ["both claim POST /"],
    },
  ],
});
