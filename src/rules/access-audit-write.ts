import { isWrite } from "../api/resolved-policy.ts";
import { policyRule } from "./rule.ts";

export const accessAuditWrite = policyRule({
  id: "ACCESS_AUDIT_WRITE",
  category: "ACCESS_RECOMMENDED",
  purpose: "Checks that every RPC that writes is audited.",
  checkRpc(rpc, report) {
    if (rpc.policy.audit !== undefined || !isWrite(rpc)) return;
    const read =
      rpc.http.length === 0 ? ", or idempotency_level = NO_SIDE_EFFECTS if it only reads" : "";
    report.atRpc(
      `${rpc.name} writes and is not audited; add audit: {event: "…", risk_level: …}${read}`,
    );
  },
});
