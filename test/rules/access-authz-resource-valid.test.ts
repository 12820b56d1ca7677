import { accessAuthzResourceValid } from "../../src/rules/access-authz-resource-valid.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc } from "./sources.ts";

const authorized = (resource: string) =>
  rpc("Get", policy(`exposure: AUTHORIZED authz: {action: "view", ${resource}}`));

// The grammar itself is tested in test/api/resource.test.ts.
testRule(accessAuthzResourceValid, {
  shows: "the grammar of resources [ANNO-5]",
  valid: [
    authorized('resource: "skill:{id}"'),
    authorized('resource: "skill:*"'),
    authorized('resource: "tenant/skill:a-{inner.id}:{principal.organization_id}"'),
    { name: "a string in pieces", rpcs: authorized('resource: "skill:" "{id}"') },
    {
      name: "an empty one of AUTHORIZED, which another rule reports",
      rpcs: authorized('resource: ""'),
    },
    rpc("Get", policy("exposure: AUTHORIZED authz: {}")),
    rpc("Get"),
  ],
  invalid: [
    { rpcs: authorized('⟦resource: "skill"'), messages: ['authz.resource: "skill" has no type'] },
    { rpcs: authorized('⟦resource: "*"'), messages: ["write type:id, such as skill:*"] },
    { rpcs: authorized('⟦resource: "skill:"'), messages: ['"skill:" has an empty id'] },
    { rpcs: authorized('⟦resource: "Skill:{id}"'), messages: ['"Skill" is not a type'] },
    {
      rpcs: authorized('⟦resource: "{id}:*"'),
      messages: ["a type cannot contain a placeholder"],
    },
    {
      rpcs: authorized('⟦resource: "skill:{id"'),
      messages: ['the placeholder "{id" has no closing brace'],
    },
    {
      rpcs: authorized('⟦resource: "skill:a#b"'),
      messages: ['"#" is not allowed in an object id'],
    },
    {
      rpcs: authorized('⟦resource: "skill:a\\tb"'),
      messages: ['"\\t" is not allowed in an object id'],
    },
    { rpcs: authorized('⟦resource: "skill:{id}*"'), messages: ['"*" must be the whole id'] },
    {
      name: "an empty one where the exposure needs none",
      rpcs: rpc("Get", policy('exposure: PUBLIC authz {⟦resource: ""}')),
      messages: ['"" has no type'],
    },
    {
      name: "a piece",
      rpcs: rpc("Get", '⟦option (svc.access.v1.policy).authz.resource = "skill";'),
      messages: ['"skill" has no type'],
    },
  ],
});
