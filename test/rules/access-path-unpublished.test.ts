import { accessPathUnpublished } from "../../src/rules/access-path-unpublished.ts";
import { frontend, ONE_AND_TWO, platform } from "./platforms.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

const internal = (rule: string) => rpc("Do", http(rule), policy("exposure: INTERNAL"));
const published = (rule: string) =>
  rpc("Do", http(rule), policy("exposure: AUTHENTICATED gateway: {publish: true}"));
const marked = (text: string) => `⟦${text}`;
const withPaths = (...paths: string[]) => platform(ONE_AND_TWO, [], paths);
const PREFIX = "service: one, path: /v1, match: prefix, exposure: AUTHENTICATED";
const WEB = "frontend: web, path: /, match: prefix, exposure: AUTHENTICATED";
const BACKEND = "backend: { service: { name: one, namespace: apis, port: 1 } }";
/** A frontend whose pages come from a backend. */
const pages = (backend: string, more = "") =>
  frontend("web", { services: "one" }).replace(
    "namespace: web",
    `namespace: web, ${backend}${more}`,
  );
const ONE = `services: { one: { packages: [CASE.v1], ports: { http: 1 }, ${BACKEND} } }`;
/** Two services, of which the second names a backend. */
const two = (backend: string) =>
  `services: { one: { packages: [CASE.v1], ports: { http: 1 }, ${BACKEND} }, two: { packages: [CASE.other.v1], ports: { http: 2 }, ${backend} } }`;
const endpoint = (name: string, address: string) =>
  `backend: { backend: { name: ${name}, namespace: apis, endpoints: [{ address: ${address}, port: 80 }] } }`;

testRule(accessPathUnpublished, {
  shows: "declared paths cover no unpublished RPC [PLCF-4]",
  valid: [
    { name: "a published RPC", rpcs: published('get: "/v1/x"'), config: withPaths(PREFIX) },
    { name: "no paths", rpcs: internal('get: "/v1/x"') },
    { name: "a path beside", rpcs: internal('get: "/v2/x"'), config: withPaths(PREFIX) },
    {
      name: "a prefix ends at a segment",
      rpcs: internal('get: "/v1x/y"'),
      config: withPaths(PREFIX),
    },
    {
      name: "an exact path",
      rpcs: internal('get: "/v1/x/y"'),
      config: withPaths("service: one, path: /v1/x, exposure: PUBLIC"),
    },
    {
      name: "another method",
      rpcs: internal('post: "/v1/x" body: "*"'),
      config: withPaths(
        "service: one, path: /v1, match: prefix, methods: [GET], exposure: AUTHENTICATED",
      ),
    },
    {
      name: "the path of another service",
      rpcs: rpc("Get"),
      otherRpcs: internal('get: "/v1/x"'),
      config: withPaths(PREFIX),
    },
    {
      name: "a path of another backend",
      rpcs: internal('get: "/v1/x"'),
      otherRpcs: rpc("Get"),
      config: platform(
        two(BACKEND.replace("name: one", "name: two")),
        [],
        [PREFIX.replace("one", "two")],
      ),
    },
    {
      name: "implied pages of another process",
      rpcs: internal('get: "/v1/x"'),
      config: platform(ONE, [pages(BACKEND.replace("name: one", "name: web"))]),
    },
    {
      name: "implied pages below a prefix that no RPC is below",
      rpcs: internal('get: "/v1/x"'),
      config: platform(ONE, [pages(BACKEND, ", prefix: /app")]),
    },
    {
      name: "pages that another process serves",
      rpcs: internal('get: "/v1/x"'),
      config: platform(ONE, [pages(BACKEND.replace("name: one", "name: web"))], [WEB]),
    },
  ],
  invalid: [
    {
      rpcs: marked(internal('get: "/v1/x"')),
      config: withPaths(PREFIX),
      messages: [
        "Do is not published, but the path /v1 of one (svc-access.yaml:3:21) covers GET /v1/x, so the edge routes to it; publish it, or declare a narrower path",
      ],
    },
    {
      name: "an additional binding, and a variable",
      rpcs: marked(internal('get: "/v2/x" additional_bindings {get: "/{id}/y"}')),
      config: withPaths(PREFIX),
      messages: ["covers GET /v1/y"],
    },
    {
      name: "a wider RPC",
      rpcs: marked(internal('get: "/{id=**}"')),
      config: withPaths("service: one, path: /v1/a, exposure: PUBLIC"),
      messages: ["covers GET /v1/a"],
    },
    {
      name: "the path that gRPC and Connect use",
      rpcs: marked(rpc("Do", policy("exposure: SYSTEM"))),
      config: withPaths("service: one, path: /CASE.v1.S/Do, exposure: PUBLIC, methods: [POST]"),
      messages: ["covers POST /case"],
    },
    {
      name: "the same beside an HTTP binding, by a prefix over everything",
      rpcs: marked(internal('get: "/v2/x"')),
      config: withPaths("service: one, path: /, match: prefix, methods: [POST], exposure: PUBLIC"),
      messages: ["covers POST /case"],
    },
    {
      name: "an exact path that equals one, also for HEAD",
      rpcs: marked(internal('get: "/v1/x"')),
      config: withPaths("service: one, path: /v1/x, methods: [HEAD], exposure: AUTHENTICATED"),
      messages: ["covers HEAD /v1/x"],
    },
    {
      name: "each RPC",
      rpcs: `${marked(internal('get: "/v1/x"'))}${marked(rpc("Re", http('get: "/v1/y"')))}`,
      config: withPaths(PREFIX),
      messages: ["Do is not published", "Re is not published"],
    },
    {
      name: "implied pages that the service itself serves",
      rpcs: marked(internal('get: "/v1/x"')),
      config: platform(ONE, [pages(BACKEND.replace("port: 1", "port: 9"))]),
      messages: [
        "Do is not published, but the pages of web below / (svc-access.yaml:3:49), which its backend serves too, cover GET /v1/x, so the edge routes to it; publish it, or give the pages their own backend or prefix",
      ],
    },
    {
      name: "implied pages below a prefix",
      rpcs: marked(internal('get: "/v1/x"')),
      config: platform(ONE, [pages(BACKEND, ", prefix: /v1")]),
      messages: ["the pages of web below /v1"],
    },
    {
      name: "the path of another service at the same backend",
      rpcs: rpc("Get", policy("exposure: PUBLIC gateway: {publish: true}")),
      otherRpcs: marked(internal('get: "/v1/x"')),
      config: platform(two(BACKEND), [], [PREFIX]),
      messages: ["the path /v1 of one (svc-access.yaml:3:21) covers GET /v1/x"],
    },
    {
      name: "the path of another service at the same endpoint",
      rpcs: published('get: "/v2/x"'),
      otherRpcs: marked(internal('get: "/v1/x"')),
      config: platform(
        two(endpoint("b", "10.0.0.7")).replace(BACKEND, endpoint("a", "10.0.0.7")),
        [],
        [PREFIX],
      ),
      messages: ["the path /v1 of one"],
    },
    {
      name: "pages that the service itself serves",
      rpcs: marked(internal('get: "/v1/x"')),
      config: platform(
        `services: { one: { packages: [CASE.v1], ports: { http: 1 }, ${BACKEND} } }`,
        [
          frontend("web", { services: "one" }).replace(
            "namespace: web",
            `namespace: web, ${BACKEND}`,
          ),
        ],
        [WEB],
      ),
      messages: ["the path / of web (svc-access.yaml:5:22) covers GET /v1/x"],
    },
    ...[
      ["Api.Example.com", "api.example.com"],
      ["fd00::1", "FD00:0:0:0:0:0:0:1"],
    ].map(([one = "", other = ""]) => ({
      name: `the same endpoint written otherwise, ${other}`,
      rpcs: published('get: "/v2/x"'),
      otherRpcs: marked(internal('get: "/v1/x"')),
      config: platform(
        two(endpoint("b", `"${other}"`)).replace(BACKEND, endpoint("a", `"${one}"`)),
        [],
        [PREFIX],
      ),
      messages: ["the path /v1 of one"],
    })),
    {
      name: "pages at the endpoints of two services, which are two processes",
      rpcs: marked(internal('get: "/v1/x"')),
      otherRpcs: marked(internal('get: "/v1/y"')),
      config: platform(two(endpoint("b", "10.0.0.8")).replace(BACKEND, endpoint("a", "10.0.0.7")), [
        pages(
          endpoint("web", "10.0.0.7").replace(
            "port: 80 }",
            "port: 80 }, { address: 10.0.0.8, port: 80 }",
          ),
        ),
      ]),
      messages: ["cover GET /v1/x", "cover GET /v1/y"],
    },
    {
      name: "the path of a frontend without a backend, which its service gets",
      rpcs: marked(internal('get: "/v1/x"')),
      config: platform(ONE_AND_TWO, [frontend("web", { services: "one" })], [WEB]),
      messages: ["the path / of web (svc-access.yaml:5:22) covers GET /v1/x"],
    },
  ],
});
