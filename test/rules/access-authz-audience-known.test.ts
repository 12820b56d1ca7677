import { accessAuthzAudienceKnown } from "../../src/rules/access-authz-audience-known.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc } from "./sources.ts";

const MODEL = `
definition user {}
definition service {}
definition bot {}
definition group {
  relation member: user | bot
}
definition zone {
  relation operator: service
  relation owner: user
  relation nobody: service
  permission operate = operator
  permission own = owner
  permission both = operator + owner
  permission join = operate & own
  permission never = nobody - nobody
}
definition skill {
  relation zone: zone
  relation viewer: user | group#member
  relation anyone: user:*
  permission view = viewer + anyone
  permission operate = zone->operate
}
`;

const authorized = (authz: string) => rpc("Get", policy(`exposure: AUTHORIZED authz: {${authz}}`));

testRule(accessAuthzAudienceKnown, {
  shows: "the audience can hold the action [ANNO-7]",
  model: MODEL,
  valid: [
    authorized('action: "view", resource: "skill:{id}"'),
    authorized('action: "view", resource: "skill:{id}", audience: "user"'),
    authorized('action: "view", resource: "skill:{id}", audience: "bot"'),
    authorized('action: "operate", resource: "zone:*", audience: "service"'),
    authorized('action: "operate", resource: "skill:{id}", audience: "service"'),
    authorized('action: "both", resource: "zone:*", audience: "service"'),
    authorized('action: "own", resource: "zone:*"'),
    {
      name: "an unknown action, which another rule reports",
      rpcs: authorized('action: "veiw", resource: "skill:{id}", audience: "service"'),
    },
    {
      name: "an unknown type, which another rule reports",
      rpcs: authorized('action: "view", resource: "skil:{id}", audience: "service"'),
    },
    {
      name: "no resource, which another rule reports",
      rpcs: authorized('action: "view", audience: "user"'),
    },
    rpc("Get", policy("exposure: PUBLIC")),
    rpc("Get"),
  ],
  invalid: [
    {
      rpcs: authorized('action: "view", resource: "skill:{id}", ⟦audience: "users"'),
      messages: ['authz.audience: the model defines no subject type "users"; did you mean "user"?'],
    },
    {
      name: "an unknown audience that resembles no type",
      rpcs: authorized('action: "view", resource: "skill:{id}", ⟦audience: "gadgeteer"'),
      messages: [
        'no subject type "gadgeteer"; its types are bot, group, service, skill, user, zone',
      ],
    },
    {
      rpcs: authorized('action: "view", resource: "skill:{id}", ⟦audience: ""'),
      messages: ['the model defines no subject type ""'],
    },
    {
      rpcs: authorized('action: "view", resource: "skill:{id}", ⟦audience: "service"'),
      messages: ["authz.audience: a service can never hold view on skill; bot, user can"],
    },
    {
      rpcs: authorized('action: "operate", resource: "skill:{id}", ⟦audience: "user"'),
      messages: ["a user can never hold operate on skill; service can"],
    },
    {
      name: "at the action, where the audience is left out",
      rpcs: authorized('⟦action: "operate", resource: "zone:*"'),
      messages: ["a user can never hold operate on zone; service can"],
    },
    {
      name: "a definition that is not a subject of the action",
      rpcs: authorized('action: "view", resource: "skill:{id}", ⟦audience: "zone"'),
      messages: ["a zone can never hold view on skill"],
    },
    {
      name: "an intersection that no type is on both sides of",
      rpcs: authorized('⟦action: "join", resource: "zone:*"'),
      messages: ["a user can never hold join on zone; nobody can"],
    },
    {
      name: "an unknown audience beside an unknown action",
      rpcs: authorized('action: "veiw", resource: "skill:{id}", ⟦audience: "usr"'),
      messages: ['the model defines no subject type "usr"'],
    },
    {
      name: "pieces",
      rpcs: rpc(
        "Get",
        'option (svc.access.v1.policy).authz.action = "view";',
        'option (svc.access.v1.policy).authz.resource = "skill:*";',
        '⟦option (svc.access.v1.policy).authz.audience = "service";',
      ),
      messages: ["a service can never hold view on skill"],
    },
  ],
});
