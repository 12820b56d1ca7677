import { accessRouteUnpublished } from "../../src/rules/access-route-unpublished.ts";
import { frontend, platform } from "./platforms.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

const published = (rule: string) =>
  rpc("Shown", http(rule), policy("exposure: AUTHENTICATED gateway: {publish: true}"));
const hidden = (rule: string, exposure = "AUTHENTICATED") =>
  rpc("Hidden", http(rule), policy(`exposure: ${exposure}`));
const marked = (text: string) => `⟦${text}`;
const BACKEND = "backend: { service: { name: one, namespace: apis } }";
/** Two services, the second at this backend. */
const two = (backend: string) =>
  `services: { one: { packages: [CASE.v1], ports: { http: 1 }, ${BACKEND} }, two: { packages: [CASE.other.v1], ports: { http: 2 }, ${backend} } }`;
const ITEM = 'get: "/v1/items/{id}"';
const custom = (kind: string, path: string) => `custom {kind: "${kind}" path: "${path}"}`;

testRule(accessRouteUnpublished, {
  valid: [
    `${published(ITEM)}${hidden('get: "/v1/others/all"')}`,
    `${published(ITEM)}${hidden('get: "/v1/items/all"', "INTERNAL")}`,
    `${published(ITEM)}${hidden('get: "/v1/items/all"', "SYSTEM")}`,
    `${published(ITEM)}${hidden('delete: "/v1/items/all"')}`,
    `${published(ITEM)}${hidden('get: "/v1/items/{id}/parts"')}`,
    {
      name: "a published RPC that the service prefers",
      rpcs: `${published('get: "/v1/items/all"')}${hidden(ITEM)}`,
    },
    {
      name: "two that are published",
      rpcs: `${published(ITEM)}${published('get: "/v1/items/all"').replace("Shown", "Also")}`,
    },
    {
      name: "a service at another backend",
      rpcs: published(ITEM),
      otherRpcs: hidden('get: "/v1/items/all"'),
      config: platform(two(BACKEND.replace("name: one", "name: two")), []),
    },
    {
      name: "the path of gRPC and Connect beside a wide one",
      rpcs: `${published('post: "/v1/{id=**}" body: "*"')}${rpc("Hidden", policy("exposure: PUBLIC"))}`,
    },
    {
      name: "an RPC that says so",
      rpcs: `${published(ITEM)}// buf:lint:ignore ACCESS_ROUTE_UNPUBLISHED\n  ${hidden('get: "/v1/items/all"')}`,
    },
  ],
  invalid: [
    {
      rpcs: `${published(ITEM)}${marked(hidden('get: "/v1/items/all"'))}`,
      messages: [
        "Hidden is not published, but the route of CASE.v1.S/Shown (CASE.proto:7:1) covers GET /v1/items/all, so the edge forwards it; publish it, make it INTERNAL, or change one of the two paths",
      ],
    },
    ...["PUBLIC", "AUTHENTICATED"].map((exposure) => ({
      name: `a verb, ${exposure}`,
      rpcs: `${published(ITEM)}${marked(hidden('get: "/v1/items/{id}:dump"', exposure))}`,
      messages: ["covers GET /v1/items/x:dump"],
    })),
    {
      name: "an AUTHORIZED one",
      rpcs: `${published(ITEM)}${marked(
        rpc(
          "Hidden",
          http('get: "/v1/items/all"'),
          policy('exposure: AUTHORIZED authz: {action: "view" resource: "item:*"}'),
        ),
      )}`,
      messages: ["covers GET /v1/items/all"],
    },
    {
      name: "a variable of all segments",
      rpcs: `${published('get: "/v1/{id=**}"')}${marked(hidden('get: "/v1/others/{id}"'))}`,
      messages: ["covers GET /v1/others/x"],
    },
    {
      name: "the route for HEAD that the edge makes of one for GET",
      rpcs: `${published(ITEM)}${marked(hidden(custom("HEAD", "/v1/items/{id}")))}`,
      messages: ["covers HEAD /v1/items/x"],
    },
    {
      name: "the same, narrower",
      rpcs: `${published(ITEM)}${marked(hidden(custom("HEAD", "/v1/items/all")))}`,
      messages: ["covers HEAD /v1/items/all"],
    },
    {
      name: "a route for HEAD over what is bound to GET",
      rpcs: `${published(custom("HEAD", "/v1/items/{id}"))}${marked(hidden('get: "/v1/items/all"'))}`,
      messages: ["covers HEAD /v1/items/all"],
    },
    {
      name: "a route for every method",
      rpcs: `${published(custom("*", "/v1/items/{id}"))}${marked(hidden('delete: "/v1/items/all"'))}`,
      messages: ["covers DELETE /v1/items/all"],
    },
    {
      name: "the path of gRPC and Connect below a route over everything",
      rpcs: `${published('post: "/{id=**}" body: "*"')}${marked(rpc("Hidden", policy("exposure: PUBLIC")))}`,
      messages: ["covers POST /CASE.v1.S/Hidden"],
    },
    {
      name: "an additional binding of each",
      rpcs: `${published('get: "/v2/x" additional_bindings {get: "/v1/items/{id}"}')}${marked(hidden('get: "/v3/x" additional_bindings {get: "/v1/items/all"}'))}`,
      messages: ["covers GET /v1/items/all"],
    },
    {
      name: "another service at the same backend, also by the same path",
      rpcs: published(ITEM),
      otherRpcs: `${marked(hidden('get: "/v1/items/all"'))}${marked(hidden(ITEM).replace("Hidden", "Same"))}`,
      config: platform(two(BACKEND), [frontend("web", { services: "one" })]),
      messages: ["covers GET /v1/items/all", "Same is not published"],
    },
  ],
});
