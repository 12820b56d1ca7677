import { accessRateLimitPublic } from "../../src/rules/access-rate-limit-public.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc } from "./sources.ts";

testRule(accessRateLimitPublic, {
  valid: [
    rpc("Get", policy("exposure: PUBLIC rate_limit: {qps: 1}")),
    {
      name: "an empty limit, which another rule reports",
      rpcs: rpc("Get", policy("exposure: PUBLIC rate_limit {}")),
    },
    ...["AUTHENTICATED", "AUTHORIZED", "INTERNAL", "SYSTEM"].map((exposure) =>
      rpc("Get", policy(`exposure: ${exposure}`)),
    ),
    rpc("Get", policy("")),
    rpc("Get"),
  ],
  invalid: [
    {
      rpcs: `⟦${rpc("Get", policy("exposure: PUBLIC"))}`,
      messages: ["Get is PUBLIC without a rate limit; add rate_limit: {qps: …}"],
    },
    {
      name: "pieces, also where the RPC is not published",
      rpcs: `⟦${rpc("Get", "option (svc.access.v1.policy).exposure = PUBLIC;", "option (svc.access.v1.policy).gateway.publish = false;")}`,
      messages: ["Get is PUBLIC without a rate limit"],
    },
  ],
});
