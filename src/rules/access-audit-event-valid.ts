import { AUDIT_EVENT_NAME, AUDIT_FIELD, POLICY_FIELD, RISK_LEVELS } from "../api/policy.ts";
import { policyRule } from "./rule.ts";

export const accessAuditEventValid = policyRule({
  id: "ACCESS_AUDIT_EVENT_VALID",
  category: "ACCESS",
  purpose:
    "Checks that audit names an event of lower-case words joined by dots, and a known risk level.",
  checkRpc(rpc, report) {
    const audit = rpc.policy.audit;
    if (audit === undefined) return;
    if (audit.event === undefined) {
      report.atRpc(`audit of ${rpc.name} names no event; add one, such as event: "skill.publish"`);
    } else if (!AUDIT_EVENT_NAME.test(audit.event)) {
      report.atPolicy(
        `audit.event ${JSON.stringify(audit.event)} must be lower-case words joined by dots, such as skill.publish`,
        POLICY_FIELD.audit,
        AUDIT_FIELD.event,
      );
    }
    for (const [field, level] of [
      [AUDIT_FIELD.riskLevel, audit.riskLevel],
      [AUDIT_FIELD.risk, audit.risk],
    ] as const) {
      if (level === undefined || typeof level === "string") continue;
      report.atPolicy(
        `the risk level ${level.unknown} is not one of ${RISK_LEVELS.join(", ")}`,
        POLICY_FIELD.audit,
        field,
      );
    }
  },
});
