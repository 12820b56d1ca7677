import { accessAuditResourceValid } from "../../src/rules/access-audit-resource-valid.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc } from "./sources.ts";

const audited = (resource: string, exposure = "INTERNAL", mark = "") =>
  rpc("Get", policy(`exposure: ${exposure} audit: {event: "a.b", ${mark}resource: "${resource}"}`));

testRule(accessAuditResourceValid, {
  shows: "the object of an RPC that is not AUTHORIZED [ANNO-15]",
  valid: [
    ...["PUBLIC", "AUTHENTICATED", "INTERNAL", "SYSTEM"].map((exposure) =>
      audited("session:{id}", exposure),
    ),
    audited("session:*"),
    audited("session:fixed"),
    audited("session:{id}/{principal.subject_id}"),
    { name: "a type that no model needs to know", rpcs: audited("export:{id}") },
    {
      name: "an AUTHORIZED RPC without it",
      rpcs: rpc(
        "Get",
        policy(
          'exposure: AUTHORIZED authz {action: "view" resource: "skill:{id}"} audit {event: "a.b"}',
        ),
      ),
    },
    rpc("Get"),
  ],
  invalid: [
    ...(
      [
        ["", '"" has no type'],
        ["*", '"*" has no type'],
        ["session", '"session" has no type'],
        ["session:", '"session:" has an empty id'],
        ["Session:{id}", '"Session" is not a type'],
        ["session:a b", "is not allowed in an object id"],
        ["session:{id}{number}", "follows another placeholder"],
        ["session:{id", "has no closing brace"],
        ["session:a*", '"*" must be the whole id'],
      ] as const
    ).map(([resource, message]) => {
      return {
        rpcs: audited(resource, "INTERNAL", "⟦"),
        messages: [message],
      };
    }),
    {
      rpcs: audited("session:{id}", "AUTHORIZED", "⟦"),
      messages: [
        "Get is AUTHORIZED, so its audit event already has the object of authz.resource; remove audit.resource",
      ],
    },
    {
      name: "one that is written by the piece",
      rpcs: rpc("Get", '⟦option (svc.access.v1.policy).audit.resource = "session";'),
      messages: ['audit.resource: "session" has no type'],
    },
  ],
});
