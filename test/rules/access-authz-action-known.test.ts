import { accessAuthzActionKnown } from "../../src/rules/access-authz-action-known.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc } from "./sources.ts";

const MODEL = `
definition user {}
definition organization {
  relation member: user
}
definition skill {
  relation owner: user
  relation viewer: user
  permission view = viewer + owner
  permission edit = owner
}
definition tenant/document {
  relation reader: user
  permission read = reader
}
`;

const authorized = (authz: string) => rpc("Get", policy(`exposure: AUTHORIZED authz: {${authz}}`));

testRule(accessAuthzActionKnown, {
  shows: "the model has the action [ANNO-7]",
  model: MODEL,
  valid: [
    authorized('action: "view", resource: "skill:{id}"'),
    authorized('action: "edit", resource: "skill:*"'),
    authorized('action: "read", resource: "tenant/document:{id}"'),
    { name: "no action, which another rule reports", rpcs: authorized('resource: "skill:*"') },
    {
      name: "an empty action, which another rule reports",
      rpcs: authorized('action: "", resource: "skill:*"'),
    },
    { name: "no resource, which another rule reports", rpcs: authorized('action: "view"') },
    {
      name: "a resource that does not parse, which another rule reports",
      rpcs: authorized('action: "view", resource: "x"'),
    },
    rpc("Get", policy("exposure: PUBLIC")),
    rpc("Get"),
  ],
  invalid: [
    {
      rpcs: authorized('⟦action: "veiw", resource: "skill:{id}"'),
      messages: ['authz.action: skill has no permission "veiw"; did you mean "view"?'],
    },
    {
      rpcs: authorized('⟦action: "administrate", resource: "skill:{id}"'),
      messages: ['skill has no permission "administrate"; it has view, edit'],
    },
    {
      rpcs: authorized('⟦action: "owner", resource: "skill:{id}"'),
      messages: [
        '"owner" is a relation of skill, not a permission; only permissions are checked; it has view, edit',
      ],
    },
    {
      rpcs: authorized('⟦action: "View", resource: "skill:{id}"'),
      messages: ['skill has no permission "View"; did you mean "view"?'],
    },
    {
      rpcs: authorized('⟦action: "member", resource: "organization:{id}"'),
      messages: ["only permissions are checked; the type has none"],
    },
    {
      rpcs: authorized('⟦action: "view", resource: "user:{id}"'),
      messages: ['user has no permission "view"; the type has none'],
    },
    {
      rpcs: authorized('action: "view", ⟦resource: "skil:{id}"'),
      messages: ['authz.resource: the model defines no type "skil"; did you mean "skill"?'],
    },
    {
      name: "once where neither the type nor the action is known",
      rpcs: authorized('action: "veiw", ⟦resource: "document:{id}"'),
      messages: ['the model defines no type "document"'],
    },
    ...["__proto__", "constructor", "toString"].map((action) => {
      return {
        rpcs: authorized(`⟦action: "${action}", resource: "skill:{id}"`),
        messages: [`skill has no permission "${action}"`],
      };
    }),
    {
      name: "an unknown type where no action is given",
      rpcs: authorized('⟦resource: "nothing:*"'),
      messages: ['the model defines no type "nothing"'],
    },
    {
      name: "also where the exposure enforces no authz",
      rpcs: rpc("Get", policy('exposure: PUBLIC authz {⟦action: "x" resource: "skill:*"}')),
      messages: ['skill has no permission "x"'],
    },
    {
      name: "pieces",
      rpcs: rpc(
        "Get",
        '⟦option (svc.access.v1.policy).authz.action = "delete";',
        'option (svc.access.v1.policy).authz.resource = "skill:*";',
      ),
      messages: ['skill has no permission "delete"'],
    },
  ],
});
