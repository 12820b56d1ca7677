import { accessAuthzRequired } from "../../src/rules/access-authz-required.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc } from "./sources.ts";

const authorized = (content: string) => rpc("Get", policy(`exposure: AUTHORIZED ${content}`));

testRule(accessAuthzRequired, {
  shows: "an AUTHORIZED RPC has an action and a resource [ANNO-3]",
  valid: [
    authorized('authz: {action: "view", resource: "skill:{id}"}'),
    authorized('authz {action: "view" resource: "skill:{id}" audience: "user" mode: CHECK_ONLY}'),
    rpc("Get"),
    rpc("Get", policy("")),
    rpc("Get", policy("exposure: PUBLIC")),
    rpc("Get", policy("exposure: AUTHENTICATED authz: {}")),
    {
      name: "pieces",
      rpcs: rpc(
        "Get",
        "option (svc.access.v1.policy).exposure = AUTHORIZED;",
        'option (svc.access.v1.policy).authz.action = "view";',
        'option (svc.access.v1.policy).authz.resource = "skill:*";',
      ),
    },
  ],
  invalid: [
    {
      rpcs: `⟦${authorized("")}`,
      messages: [
        'Get is AUTHORIZED without authz; add authz: {action: "…", resource: "type:{field}"}',
      ],
    },
    {
      name: "an empty authz: both are missing",
      rpcs: `⟦⟦${authorized("authz: {}")}`,
      messages: ["authz of Get has no action", "authz of Get has no resource"],
    },
    {
      rpcs: `⟦${authorized('authz: {resource: "skill:*"}')}`,
      messages: ["authz of Get has no action; add a permission of the model, such as view"],
    },
    {
      rpcs: `⟦${authorized('authz {action: "view"}')}`,
      messages: ["authz of Get has no resource; add one, such as skill:{skill_id}"],
    },
    {
      rpcs: authorized('authz: {⟦action: "", resource: "skill:*"}'),
      messages: ["authz.action is empty"],
    },
    {
      rpcs: authorized('authz: {action: "view", ⟦resource: ""}'),
      messages: ["authz.resource is empty; write type:id"],
    },
    {
      rpcs: authorized('authz {\n  ⟦action: ""\n  ⟦resource: ""\n}'),
      messages: ["authz.action is empty", "authz.resource is empty"],
    },
    {
      name: "an empty action that is written by the piece",
      rpcs: rpc(
        "Get",
        "option (svc.access.v1.policy).exposure = AUTHORIZED;",
        '⟦option (svc.access.v1.policy).authz.action = "";',
        'option (svc.access.v1.policy).authz.resource = "skill:*";',
      ),
      messages: ["authz.action is empty"],
    },
    {
      name: "pieces without a resource",
      rpcs: `⟦${rpc(
        "Get",
        "option (svc.access.v1.policy).exposure = AUTHORIZED;",
        'option (svc.access.v1.policy).authz.action = "view";',
      )}`,
      messages: ["authz of Get has no resource"],
    },
  ],
});
