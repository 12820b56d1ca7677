import { accessWritePublic } from "../../src/rules/access-write-public.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

const PUBLISHED = "exposure: PUBLIC gateway: {publish: true}";
const AUDIT = 'audit: {event: "a.b"}';
const LIMIT = "rate_limit: {qps: 1}";
const POST = http('post: "/v1/x" body: "*"');

testRule(accessWritePublic, {
  valid: [
    rpc("Do", POST, policy(`${PUBLISHED} ${AUDIT} ${LIMIT}`)),
    rpc("Do", http('get: "/v1/x"'), policy(PUBLISHED)),
    rpc("Do", policy(PUBLISHED), "option idempotency_level = NO_SIDE_EFFECTS;"),
    rpc("Do", POST, policy("exposure: PUBLIC")),
    rpc("Do", POST, policy("exposure: AUTHENTICATED gateway: {publish: true}")),
    rpc("Do", POST),
  ],
  invalid: [
    {
      rpcs: `⟦${rpc("Do", POST, policy(PUBLISHED))}`,
      messages: [
        'Do writes and is published as PUBLIC, so anyone may call it; add audit: {event: "…", risk_level: …} and rate_limit: {qps: …}',
      ],
    },
    {
      rpcs: `⟦${rpc("Do", POST, policy(`${PUBLISHED} ${AUDIT}`))}`,
      messages: ["anyone may call it; add rate_limit: {qps: …}"],
    },
    {
      rpcs: `⟦${rpc("Do", POST, policy(`${PUBLISHED} ${LIMIT}`))}`,
      messages: ["anyone may call it; add audit:"],
    },
    {
      rpcs: `⟦${rpc("Do", policy(PUBLISHED))}`,
      messages: ["or idempotency_level = NO_SIDE_EFFECTS if it only reads"],
    },
  ],
});
