import { policyRule } from "./rule.ts";

export const accessAuditRateLimit = policyRule({
  id: "ACCESS_AUDIT_RATE_LIMIT",
  category: "ACCESS_RECOMMENDED",
  purpose:
    "Checks that every audited RPC that users may call has a rate limit, since each call is stored, even if it is denied.",
  checkRpc(rpc, report) {
    const { exposure, audit, rateLimit } = rpc.policy;
    if (audit === undefined || rateLimit !== undefined) return;
    // ACCESS_RATE_LIMIT_PUBLIC reports PUBLIC RPCs without a limit, and only services of the
    // platform call the others.
    if (exposure !== "AUTHENTICATED" && exposure !== "AUTHORIZED") return;
    report.atRpc(
      `${rpc.name} is audited without a rate limit, so one caller can fill the audit store; add rate_limit: {qps: …}`,
    );
  },
});
