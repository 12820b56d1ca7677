import { AUDIT_FIELD, type DeclaredAudit, POLICY_FIELD, RISK_LEVELS } from "../../api/policy.ts";
import { atPolicy, atRpc } from "../rule.ts";
import type { BreakingRule } from "./breaking-rule.ts";

export const auditNoDelete: BreakingRule = {
  id: "ACCESS_AUDIT_NO_DELETE",
  purpose:
    "Checks that an audited RPC is still audited, by the same event and with no lower risk level.",
  *check({ before: { audit: before }, now: { audit: now }, rpc }) {
    if (before?.event === undefined) return;
    const event = JSON.stringify(before.event);
    if (now?.event === undefined) {
      yield atRpc(rpc, `${rpc.name} was audited as ${event}, and is not audited any more`);
      return;
    }
    if (now.event !== before.event) {
      yield atPolicy(
        rpc,
        `audit.event of ${rpc.name} was ${event}, and is ${JSON.stringify(now.event)}: who looks for the former one misses calls`,
        POLICY_FIELD.audit,
        AUDIT_FIELD.event,
      );
    }
    if (riskOf(now) < riskOf(before)) {
      yield atPolicy(
        rpc,
        `the risk level of ${rpc.name} was ${RISK_LEVELS[riskOf(before)]}, and is ${RISK_LEVELS[riskOf(now)]}`,
        POLICY_FIELD.audit,
        AUDIT_FIELD.riskLevel,
      );
    }
  },
};

/** The index of the risk level; the lowest where none is given, or none that is known. */
function riskOf({ riskLevel, risk }: DeclaredAudit): number {
  const level = riskLevel ?? risk;
  return typeof level === "string" ? RISK_LEVELS.indexOf(level) : 0;
}
