import { accessPathService } from "../../src/rules/access-path-service.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

const bound = (path: string) => rpc("Get", http(`get: "${path}"`));
const outside = (path: string) => rpc("Get", http(`get: "${path}"`, "⟦"));
const deployedAs = (name: string) => `services: { ${name}: { packages: [CASE.v1] } }`;

testRule(accessPathService, {
  shows: "paths are below the name of their service [PLAT-6]",
  valid: [
    bound("/v1/CASE/things"),
    bound("/v1/CASE"),
    bound("/v1/CASE:reset"),
    bound("/v2beta1/CASE/{id}"),
    {
      name: "the family of a package, below that of its product",
      package: "hub.skills.v1",
      rpcs: bound("/v1/skills/{id}"),
    },
    {
      name: "an underscore of the package as a dash",
      package: "hub.skill_spaces.v1",
      rpcs: bound("/v1/skill-spaces/{id}"),
    },
    { name: "a version inside the package", package: "hub.v1.zones", rpcs: bound("/v1/zones") },
    { name: "a package that is nothing but a version", package: "v1", rpcs: bound("/v1/anything") },
    { name: "the configured name", rpcs: bound("/v1/hub/x"), config: deployedAs("hub") },
    {
      name: "the family of a package whose service is configured",
      rpcs: bound("/v1/CASE/x"),
      config: deployedAs("hub"),
    },
    { name: "a path without a version, which another rule reports", rpcs: bound("/things") },
    { name: "a rule that does not parse, which another rule reports", rpcs: bound("things") },
    rpc("Get", policy("exposure: PUBLIC gateway: {publish: true}")),
  ],
  invalid: [
    { rpcs: outside("/v1/things"), messages: ["the path /v1/things is not below /v1/case"] },
    { rpcs: outside("/v2/{id}/CASE"), messages: ["is not below /v2/case"] },
    { rpcs: outside("/v1/*"), messages: ["the path /v1/* is not below"] },
    { rpcs: outside("/v1"), messages: ["the path /v1 is not below"] },
    { rpcs: outside("/v1/CASEs"), messages: ["is not below"] },
    {
      name: "the product of a package instead of its family",
      package: "hub.groups.v1",
      rpcs: outside("/v1/hub/groups"),
      messages: ["the path /v1/hub/groups is not below /v1/groups/"],
    },
    {
      name: "neither the configured name nor the family",
      package: "hub.users.v1",
      rpcs: outside("/v1/things"),
      config: "services: { directory: { packages: [hub.users.v1] } }",
      messages: ["is not below /v1/directory/ or /v1/users/"],
    },
    {
      name: "the name of another configured service",
      rpcs: outside("/v1/iam/x"),
      otherRpcs: rpc("Get"),
      config: "services: { hub: { packages: [CASE.v1] }, iam: { packages: [CASE.other.v1] } }",
      messages: ["the path /v1/iam/x is not below /v1/hub/ or"],
    },
    {
      name: "an additional binding",
      rpcs: rpc("Get", http('get: "/v1/CASE/x" ⟦additional_bindings {get: "/v1/y"}')),
      messages: ["the path /v1/y is not below"],
    },
  ],
});
