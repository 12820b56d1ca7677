import { AUDIT_FIELD, type DeclaredAudit, POLICY_FIELD, RISK_LEVELS } from "../../api/policy.ts";
import { atPolicy, atRpc } from "../rule.ts";
import type { BreakingRule } from "./breaking-rule.ts";

export const auditNoDelete: BreakingRule = {
  id: "ACCESS_AUDIT_NO_DELETE",
  purpose:
    "Checks that an audited RPC is still audited, with the same event and at least the same risk level.",
  *check({ before: { audit: before }, now: { audit: now }, rpc }) {
    if (before?.event === undefined) return;
    const event = JSON.stringify(before.event);
    if (now?.event === undefined) {
      yield atRpc(rpc, `${rpc.name} was audited as ${event}, and is no longer audited`);
      return;
    }
    if (now.event !== before.event) {
      yield atPolicy(
        rpc,
        `audit.event of ${rpc.name} was ${event}, and is now ${JSON.stringify(now.event)}: searches for the former event miss its calls`,
        POLICY_FIELD.audit,
        AUDIT_FIELD.event,
      );
    }
    if (riskOf(now) < riskOf(before)) {
      yield atPolicy(
        rpc,
        `the risk level of ${rpc.name} was ${RISK_LEVELS[riskOf(before)]}, and is now ${RISK_LEVELS[riskOf(now)]}`,
        POLICY_FIELD.audit,
        AUDIT_FIELD.riskLevel,
      );
    }
  },
};

/** The index of the risk level; the lowest if none is set or known. */
function riskOf({ riskLevel, risk }: DeclaredAudit): number {
  const level = riskLevel ?? risk;
  return typeof level === "string" ? RISK_LEVELS.indexOf(level) : 0;
}
