import { accessAuditWrite } from "../../src/rules/access-audit-write.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

const PUBLIC = policy("exposure: PUBLIC");
const NO_SIDE_EFFECTS = "option idempotency_level = NO_SIDE_EFFECTS;";

testRule(accessAuditWrite, {
  valid: [
    rpc("Put", http('put: "/v1/x" body: "*"'), policy('exposure: PUBLIC audit: {event: "a.b"}')),
    rpc("Get", http('get: "/v1/x"'), PUBLIC),
    rpc("Head", http('custom: {kind: "HEAD", path: "/v1/x"}'), PUBLIC),
    rpc("Get", http('get: "/v1/x" additional_bindings {get: "/v1/y"}'), PUBLIC),
    { name: "a read without a binding", rpcs: rpc("Get", NO_SIDE_EFFECTS, PUBLIC) },
    { name: "a write without a policy, which is another rule's concern", rpcs: rpc("Put") },
  ],
  invalid: [
    ...["post", "put", "patch", "delete"].map((method) => {
      return {
        rpcs: `⟦${rpc("Write", http(`${method}: "/v1/x"`), PUBLIC)}`,
        messages: ['Write writes and is not audited; add audit: {event: "…", risk_level: …}'],
      };
    }),
    {
      rpcs: `⟦${rpc("Any", http('custom: {kind: "*", path: "/v1/x"}'), PUBLIC)}`,
      messages: ["Any writes"],
    },
    {
      name: "a read with an additional binding that writes",
      rpcs: `⟦${rpc("Mixed", http('get: "/v1/x" additional_bindings {post: "/v1/x"}'), PUBLIC)}`,
      messages: ["Mixed writes and is not audited"],
    },
    {
      name: "an RPC without a binding",
      rpcs: `⟦${rpc("Do", PUBLIC)}`,
      messages: ["or idempotency_level = NO_SIDE_EFFECTS if it only reads"],
    },
    {
      name: "an idempotent write without a binding",
      rpcs: `⟦${rpc("Do", "option idempotency_level = IDEMPOTENT;", PUBLIC)}`,
      messages: ["Do writes and is not audited"],
    },
    {
      name: "a POST with any idempotency_level",
      rpcs: `⟦${rpc("Do", NO_SIDE_EFFECTS, http('post: "/v1/x"'), PUBLIC)}`,
      messages: ["Do writes and is not audited"],
    },
    {
      name: "an empty policy",
      rpcs: `⟦${rpc("Do", policy(""))}`,
      messages: ["Do writes and is not audited"],
    },
  ],
});
