import { POLICY_FIELD, RATE_LIMIT_FIELD } from "../../api/policy.ts";
import { atPolicy, atRpc } from "../rule.ts";
import type { BreakingRule } from "./breaking-rule.ts";

export const rateLimitNoLaxer: BreakingRule = {
  id: "ACCESS_RATE_LIMIT_NO_LAXER",
  purpose: "Checks that no rate limit is removed, or allows more calls than before.",
  *check({ before: { rateLimit: before }, now: { rateLimit: now }, rpc }) {
    if (before?.qps === undefined) return;
    if (now?.qps === undefined) {
      yield atRpc(rpc, `${rpc.name} had a rate limit of ${before.qps} qps, and no longer has one`);
      return;
    }
    if (now.qps > before.qps) {
      yield atPolicy(
        rpc,
        `rate_limit.qps of ${rpc.name} was ${before.qps}, and is now ${now.qps}`,
        POLICY_FIELD.rateLimit,
        RATE_LIMIT_FIELD.qps,
      );
    }
    const [old, current] = [before.burst ?? before.qps, now.burst ?? now.qps];
    // Without a burst, it follows the qps, which the finding above reports.
    const follows = now.burst === undefined && now.qps > before.qps;
    if (current > old && !follows) {
      yield atPolicy(
        rpc,
        `rate_limit.burst of ${rpc.name} was ${old}, and is now ${current}`,
        POLICY_FIELD.rateLimit,
        RATE_LIMIT_FIELD.burst,
      );
    }
  },
};
