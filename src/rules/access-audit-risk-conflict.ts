import { AUDIT_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { policyRule } from "./rule.ts";

export const accessAuditRiskConflict = policyRule({
  id: "ACCESS_AUDIT_RISK_CONFLICT",
  category: "ACCESS",
  purpose: "Checks that audit.risk, the deprecated alias, does not contradict audit.risk_level.",
  checkRpc(rpc, report) {
    const { risk, riskLevel } = rpc.policy.audit ?? {};
    if (typeof risk !== "string" || typeof riskLevel !== "string" || risk === riskLevel) return;
    report.atPolicy(
      `audit.risk ${risk} contradicts audit.risk_level ${riskLevel}; remove audit.risk, which is deprecated`,
      POLICY_FIELD.audit,
      AUDIT_FIELD.risk,
    );
  },
});
