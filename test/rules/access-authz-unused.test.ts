import { accessAuthzUnused } from "../../src/rules/access-authz-unused.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc } from "./sources.ts";

const AUTHZ = 'authz: {action: "view", resource: "skill:*"}';
/** buf has no position for a message in an aggregate, so its first field is reported. */
const MARKED = 'authz: {⟦action: "view", resource: "skill:*"}';

testRule(accessAuthzUnused, {
  shows: "no other RPC has authz [ANNO-3]",
  valid: [
    rpc("Get", policy(`exposure: AUTHORIZED ${AUTHZ}`)),
    rpc("Get", policy("exposure: PUBLIC")),
    rpc("Get"),
    {
      name: "authz without an exposure, which is another rule's concern",
      rpcs: rpc("Get", policy(AUTHZ)),
    },
  ],
  invalid: [
    ...["PUBLIC", "AUTHENTICATED", "INTERNAL", "SYSTEM"].map((exposure) => {
      return {
        rpcs: rpc("Get", policy(`exposure: ${exposure} ${MARKED}`)),
        messages: [
          `authz is not enforced on ${exposure}; write exposure: AUTHORIZED, or remove authz`,
        ],
      };
    }),
    {
      name: "an empty authz, which is placed at the option",
      rpcs: rpc("Get", policy("authz {} exposure: PUBLIC", "⟦")),
      messages: ["authz is not enforced on PUBLIC"],
    },
    {
      name: "pieces: at the first of authz",
      rpcs: rpc(
        "Get",
        "option (svc.access.v1.policy).exposure = PUBLIC;",
        '⟦option (svc.access.v1.policy).authz.resource = "skill:*";',
        'option (svc.access.v1.policy).authz.action = "view";',
      ),
      messages: ["authz is not enforced on PUBLIC"],
    },
    {
      name: "an aggregate of authz beside a piece",
      rpcs: rpc(
        "Get",
        "option (svc.access.v1.policy).exposure = PUBLIC;",
        'option ⟦(svc.access.v1.policy).authz = {action: "view"};',
      ),
      messages: ["authz is not enforced on PUBLIC"],
    },
  ],
});
