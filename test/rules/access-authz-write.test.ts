import { accessAuthzWrite } from "../../src/rules/access-authz-write.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

const POST = http('post: "/v1/x"');
const PUBLISHED = "gateway: {publish: true}";

testRule(accessAuthzWrite, {
  shows: "published RPCs that write are AUTHORIZED [PLAT-3]",
  valid: [
    rpc("Do", POST, policy(`exposure: AUTHORIZED ${PUBLISHED}`)),
    rpc("Do", POST, policy("exposure: PUBLIC")),
    rpc("Do", POST, policy("exposure: PUBLIC gateway: {publish: false}")),
    rpc("Get", http('get: "/v1/x"'), policy(`exposure: PUBLIC ${PUBLISHED}`)),
    rpc(
      "Get",
      "option idempotency_level = NO_SIDE_EFFECTS;",
      policy(`exposure: PUBLIC ${PUBLISHED}`),
    ),
    {
      name: "INTERNAL, whose publication another rule reports",
      rpcs: rpc("Do", policy(`exposure: INTERNAL ${PUBLISHED}`)),
    },
    { name: "no exposure, which another rule reports", rpcs: rpc("Do", policy(PUBLISHED)) },
    rpc("Do"),
  ],
  invalid: [
    ...["PUBLIC", "AUTHENTICATED"].map((exposure) => {
      return {
        rpcs: rpc("Do", POST, policy(`${PUBLISHED} ⟦exposure: ${exposure}`)),
        messages: [
          `Do writes and is published as ${exposure}; write exposure: AUTHORIZED with authz`,
        ],
      };
    }),
    {
      name: "a published RPC without a binding, which is a POST",
      rpcs: rpc("Do", policy(`⟦exposure: PUBLIC ${PUBLISHED}`)),
      messages: ["Do writes and is published as PUBLIC"],
    },
    {
      name: "pieces",
      rpcs: rpc(
        "Do",
        "option (svc.access.v1.policy).gateway.publish = true;",
        "⟦option (svc.access.v1.policy).exposure = AUTHENTICATED;",
      ),
      messages: ["Do writes and is published as AUTHENTICATED"],
    },
  ],
});
