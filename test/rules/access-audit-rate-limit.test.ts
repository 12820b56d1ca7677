import { accessAuditRateLimit } from "../../src/rules/access-audit-rate-limit.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc } from "./sources.ts";

const AUDIT = 'audit: {event: "a.b"}';
const AUTHZ = 'authz: {action: "view" resource: "skill:*"}';

testRule(accessAuditRateLimit, {
  valid: [
    rpc("Do", policy(`exposure: AUTHENTICATED ${AUDIT} rate_limit: {qps: 1}`)),
    rpc("Do", policy("exposure: AUTHENTICATED")),
    rpc("Do", policy(`exposure: INTERNAL ${AUDIT}`)),
    rpc("Do", policy(`exposure: SYSTEM ${AUDIT}`)),
    {
      name: "PUBLIC, which another rule reports",
      rpcs: rpc("Do", policy(`exposure: PUBLIC ${AUDIT}`)),
    },
  ],
  invalid: [
    {
      rpcs: `⟦${rpc("Do", policy(`exposure: AUTHENTICATED ${AUDIT}`))}`,
      messages: [
        "Do is audited without a rate limit, so one caller can fill the audit store; add rate_limit: {qps: …}",
      ],
    },
    {
      rpcs: `⟦${rpc("Do", policy(`exposure: AUTHORIZED ${AUTHZ} ${AUDIT}`))}`,
      messages: ["add rate_limit"],
    },
  ],
});
