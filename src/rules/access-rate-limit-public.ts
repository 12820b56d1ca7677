import { policyRule } from "./rule.ts";

export const accessRateLimitPublic = policyRule({
  id: "ACCESS_RATE_LIMIT_PUBLIC",
  category: "ACCESS_RECOMMENDED",
  purpose: "Checks that every PUBLIC RPC has a rate limit.",
  checkRpc(rpc, report) {
    if (rpc.policy.exposure !== "PUBLIC" || rpc.policy.rateLimit !== undefined) return;
    report.atRpc(`${rpc.name} is PUBLIC without a rate limit; add rate_limit: {qps: …}`);
  },
});
