import { accessPathVersioned } from "../../src/rules/access-path-versioned.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

const bound = (path: string) => rpc("Get", http(`get: "${path}"`));

testRule(accessPathVersioned, {
  shows: "paths begin with a version [PLAT-6]",
  valid: [
    ...["v1", "v2", "v10", "v1alpha", "v1beta1", "v2alpha12", "v1p1beta1"].map((version) =>
      bound(`/${version}/things`),
    ),
    bound("/v1"),
    bound("/v1/**"),
    bound("/v1:reset"),
    rpc("Get"),
    {
      name: "the path that a published RPC has without google.api.http",
      rpcs: rpc("Get", policy("exposure: PUBLIC gateway: {publish: true}")),
    },
    { name: "a rule that does not parse, which another rule reports", rpcs: bound("things") },
  ],
  invalid: [
    ...[
      "/things",
      "/things/v1",
      "/api/v1/things",
      "/V1/things",
      "/v0/things",
      "/v/things",
      "/v01/x",
      "/v1.1/x",
      "/v1gamma/x",
      "/",
      "/*/x",
      "/**",
      "/{id}/x",
    ].map((path) => {
      return {
        rpcs: rpc("Get", http(`get: "${path}"`, "⟦")),
        messages: [`the path ${path} has no version; start it with /v1/`],
      };
    }),
    {
      name: "an additional binding",
      rpcs: rpc(
        "Get",
        http('get: "/v1/x" ⟦additional_bindings {get: "/x"} additional_bindings {get: "/v1/y"}'),
      ),
      messages: ["the path /x has no version"],
    },
    {
      name: "a rule and its additional binding",
      rpcs: rpc("Get", http('get: "/x" ⟦additional_bindings {get: "/y"}', "⟦")),
      messages: ["the path /x has no version", "the path /y has no version"],
    },
  ],
});
