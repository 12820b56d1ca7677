import { POLICY_FIELD, RATE_LIMIT_FIELD } from "../api/policy.ts";
import { policyRule } from "./rule.ts";

export const accessRateLimitValid = policyRule({
  id: "ACCESS_RATE_LIMIT_VALID",
  category: "ACCESS",
  purpose: "Checks that rate_limit has a qps of at least 1, and a burst of at least qps.",
  checkRpc(rpc, report) {
    const limit = rpc.policy.rateLimit;
    if (limit === undefined) return;
    const { qps, burst } = limit;
    if (qps === undefined) {
      report.atRpc(`rate_limit of ${rpc.name} has no qps; add one of at least 1`);
    } else if (qps < 1) {
      report.atPolicy(
        `rate_limit.qps is ${qps}; it must be at least 1`,
        POLICY_FIELD.rateLimit,
        RATE_LIMIT_FIELD.qps,
      );
    }
    const least = Math.max(qps ?? 1, 1);
    if (burst !== undefined && burst < least) {
      report.atPolicy(
        `rate_limit.burst is ${burst}; it must be at least ${qps === undefined || qps < 1 ? "1" : `qps, ${qps}`}`,
        POLICY_FIELD.rateLimit,
        RATE_LIMIT_FIELD.burst,
      );
    }
  },
});
