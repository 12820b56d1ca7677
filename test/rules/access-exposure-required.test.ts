import { accessExposureRequired } from "../../src/rules/access-exposure-required.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc } from "./sources.ts";

testRule(accessExposureRequired, {
  shows: "an exposure is explicit [ANNO-2]",
  valid: [
    ...["PUBLIC", "AUTHENTICATED", "AUTHORIZED", "INTERNAL", "SYSTEM"].map((exposure) =>
      rpc("Get", policy(`exposure: ${exposure}`)),
    ),
    { name: "an RPC without a policy, which is another rule's concern", rpcs: rpc("Get") },
    {
      name: "PUBLIC, though it is the zero value, by the piece [ANNO-2]",
      rpcs: rpc("Get", "option (svc.access.v1.policy).exposure = PUBLIC;"),
    },
  ],
  invalid: [
    {
      rpcs: `⟦${rpc("Get", policy(""))}`,
      messages: [
        "the policy of Get sets no exposure; set one of PUBLIC, AUTHENTICATED, AUTHORIZED, INTERNAL, SYSTEM",
      ],
    },
    {
      name: "a policy of everything else",
      rpcs: `⟦${rpc("Get", policy('authz {action: "view" resource: "skill:*"} audit {event: "a.b"} rate_limit {qps: 1} gateway {publish: true}'))}`,
      messages: ["sets no exposure"],
    },
    {
      name: "pieces without an exposure",
      rpcs: `⟦${rpc("Get", 'option (svc.access.v1.policy).authz.action = "view";', "option (svc.access.v1.policy).gateway.publish = true;")}`,
      messages: ["sets no exposure"],
    },
    {
      name: "an edition",
      syntax: 'edition = "2023";',
      rpcs: `⟦${rpc("Get", policy(""))}`,
      messages: ["sets no exposure"],
    },
  ],
});
