import { accessRouteShadowed } from "../../src/rules/access-route-shadowed.ts";
import { BOTH, frontend, ONE_AND_TWO, platform } from "./platforms.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

const open = (rule: string, mark = "") => rpc("Open", http(rule, mark), policy("exposure: PUBLIC"));
const guarded = (rule: string, exposure = "AUTHENTICATED") =>
  rpc("Guarded", http(rule), policy(`exposure: ${exposure}`));

const PUBLISH = "gateway: {publish: true}";
const publishedOpen = (path: string, mark = "") =>
  rpc("Open", http(`get: "${path}"`, mark), policy(`exposure: PUBLIC ${PUBLISH}`));
const publishedGuarded = (path: string) =>
  rpc("Guarded", http(`get: "${path}"`), policy(`exposure: AUTHENTICATED ${PUBLISH}`));

const ONE_HOST = [
  frontend("web", { host: "example.com", services: "one" }),
  frontend("admin", { host: "example.com", services: "two" }),
];

testRule(accessRouteShadowed, {
  valid: [
    open('get: "/v1/{id}"') + guarded('get: "/v1/me"'),
    open('get: "/v1/**"') + guarded('get: "/v1/{id}"'),
    open('get: "/v1/x"') + guarded('post: "/v1/{id}"'),
    open('get: "/v1/x"') + guarded('get: "/v1/{id}/x"'),
    open('get: "/v1/x:run"') + guarded('get: "/v1/{id}:stop"'),
    open('get: "/v1/x"') + guarded('get: "/v1/{id}:run"'),
    open('get: "/v1/{id=users/*}"') + guarded('get: "/v1/{id=projects/**}"'),
    open('get: "/v1/x"') + rpc("Other", http('get: "/v1/{id}"'), policy("exposure: PUBLIC")),
    guarded('get: "/v1/me"') + rpc("Other", http('get: "/v1/{id}"'), policy("exposure: SYSTEM")),
    {
      name: "one path twice, which another rule reports",
      rpcs: open('get: "/v1/x"') + guarded('get: "/v1/x"'),
    },
    {
      name: "an RPC without an exposure, which another rule reports",
      rpcs: open('get: "/v1/x"') + rpc("Get", http('get: "/v1/{id}"'), policy("")),
    },
    {
      name: "an RPC without a policy, which another rule reports",
      rpcs: open('get: "/v1/x"') + rpc("Get", http('get: "/v1/{id}"')),
    },
    {
      name: "a protected RPC that is bound to nothing",
      rpcs: open('get: "/**"') + rpc("Get", policy("exposure: INTERNAL")),
    },
    {
      name: "two packages that are not deployed as one",
      rpcs: open('get: "/v1/x"'),
      otherRpcs: guarded('get: "/v1/{id}"'),
    },
    {
      name: "what is not published on the host",
      rpcs: publishedOpen("/v1/x"),
      otherRpcs: guarded('get: "/v1/{id}"'),
      config: platform(ONE_AND_TWO, ONE_HOST),
    },
    {
      name: "what is published on another host",
      rpcs: publishedOpen("/v1/x"),
      otherRpcs: publishedGuarded("/v1/{id}"),
      config: platform(ONE_AND_TWO, [
        frontend("web", { services: "one" }),
        frontend("admin", { services: "two" }),
      ]),
    },
    {
      name: "PUBLIC health beside a protected page prefix, which is there for the rest",
      rpcs: publishedOpen("/v1/x"),
      config: platform(ONE_AND_TWO, ONE_HOST, [
        "service: one, path: /healthz, exposure: PUBLIC",
        "frontend: web, path: /, match: prefix, exposure: AUTHENTICATED",
      ]),
    },
    {
      name: "a PUBLIC prefix inside a protected prefix",
      rpcs: rpc("Get"),
      config: platform(ONE_AND_TWO, ONE_HOST, [
        "frontend: web, path: /assets, match: prefix, exposure: PUBLIC",
        "frontend: web, path: /, match: prefix, exposure: AUTHENTICATED",
      ]),
    },
    {
      name: "a protected RPC below a PUBLIC prefix",
      rpcs: publishedGuarded("/assets/{id}"),
      config: platform(ONE_AND_TWO, ONE_HOST, [
        "frontend: web, path: /assets, match: prefix, exposure: PUBLIC",
      ]),
    },
  ],
  invalid: [
    {
      name: "a literal before a variable, with the names of both RPCs, the request and the exposure",
      package: "hub.skills.v1",
      rpcs: open('get: "/v1/me"', "⟦") + guarded('get: "/v1/{id}"', "AUTHORIZED"),
      messages: [
        "hub.skills.v1.S/Open is PUBLIC and captures GET /v1/me, which hub.skills.v1.S/Guarded (AUTHORIZED, CASE.proto:12:12) claims too; change one path",
      ],
    },
    {
      name: "also where the protected RPC stands first",
      rpcs: guarded('get: "/v1/{id}"', "INTERNAL") + open('get: "/v1/me"', "⟦"),
      messages: ["captures GET /v1/me, which"],
    },
    {
      rpcs: open('get: "/v1/{id}"', "⟦") + guarded('get: "/v1/{id=**}"', "SYSTEM"),
      messages: ["captures GET /v1/x, which"],
    },
    {
      rpcs: open('get: "/v1/{id}/x"', "⟦") + guarded('get: "/**"'),
      messages: ["captures GET /v1/x/x, which"],
    },
    {
      rpcs: open('get: "/v1/**"', "⟦") + guarded('get: "/{id}/x"'),
      messages: ["captures GET /v1/x, which"],
    },
    {
      rpcs: open('get: "/v1/{id=projects/*}"', "⟦") + guarded('get: "/v1/{id=*/*}"'),
      messages: ["captures GET /v1/projects/x, which"],
    },
    {
      name: "a verb before none",
      rpcs: open('get: "/v1/{id}:preview"', "⟦") + guarded('get: "/v1/{id}"'),
      messages: ["captures GET /v1/x:preview, which"],
    },
    {
      name: "a literal with a verb before a variable with it",
      rpcs: open('get: "/v1/x:run"', "⟦") + guarded('get: "/v1/{id}:run"'),
      messages: ["captures GET /v1/x:run, which"],
    },
    {
      name: "any method",
      rpcs: open('custom: {kind: "*", path: "/v1/me"}', "⟦") + guarded('delete: "/v1/{id}"'),
      messages: ["captures DELETE /v1/me, which"],
    },
    {
      name: "one method of any",
      rpcs: open('put: "/v1/me"', "⟦") + guarded('custom: {kind: "*", path: "/v1/{id}"}'),
      messages: ["captures PUT /v1/me, which"],
    },
    {
      name: "additional bindings of both",
      rpcs:
        open('get: "/v1/a" ⟦additional_bindings {get: "/v1/b/me"}') +
        guarded('get: "/v1/c" additional_bindings {get: "/v1/b/{id}"}'),
      messages: ["captures GET /v1/b/me, which"],
    },
    {
      name: "two packages of one deployed service",
      rpcs: open('get: "/v1/me"', "⟦"),
      otherRpcs: guarded('get: "/v1/{id}"'),
      config: BOTH,
      messages: ["captures GET /v1/me"],
    },
    {
      name: "what two services publish on one host",
      rpcs: publishedOpen("/v1/me", "⟦"),
      otherRpcs: publishedGuarded("/v1/{id}"),
      config: platform(ONE_AND_TWO, ONE_HOST),
      messages: ["captures GET /v1/me"],
    },
    {
      name: "once what is captured in a service and on its hosts",
      rpcs: publishedOpen("/v1/me", "⟦") + publishedGuarded("/v1/{id}"),
      config: platform(ONE_AND_TWO, [
        frontend("web", { services: "one" }),
        frontend("admin", { services: "one" }),
      ]),
      messages: ["captures GET /v1/me"],
    },
    {
      name: "a declared PUBLIC path before an RPC's variable",
      rpcs: guarded('get: "/v1/{id}"'),
      config: platform(ONE_AND_TWO, [], ["service: one, ⟦path: /v1/me, exposure: PUBLIC"]),
      messages: ["the path /v1/me of one is PUBLIC and captures GET /v1/me, which"],
    },
    {
      name: "a declared PUBLIC path with a colon before a variable and a verb",
      rpcs: guarded('get: "/v1/{id}:run"'),
      config: platform(ONE_AND_TWO, [], ["service: one, ⟦path: /v1/me:run, exposure: PUBLIC"]),
      messages: ["captures GET /v1/me:run, which"],
    },
    {
      name: "a declared PUBLIC prefix before an RPC's variable",
      rpcs: publishedGuarded("/{id}/x"),
      config: platform(ONE_AND_TWO, ONE_HOST, [
        "frontend: web, ⟦path: /assets, match: prefix, exposure: PUBLIC",
      ]),
      messages: ["the path /assets of web is PUBLIC and captures GET /assets/x, which"],
    },
    {
      name: "a PUBLIC RPC before an RPC's wildcard over a whole host",
      rpcs: publishedOpen("/v1/me", "⟦"),
      otherRpcs: publishedGuarded("/**"),
      config: platform(ONE_AND_TWO, ONE_HOST),
      messages: ["captures GET /v1/me"],
    },
  ],
});
