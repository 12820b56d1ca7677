import { isWrite } from "../api/resolved-policy.ts";
import { policyRule } from "./rule.ts";

export const accessWritePublic = policyRule({
  id: "ACCESS_WRITE_PUBLIC",
  category: "ACCESS",
  purpose: "Checks that every published PUBLIC RPC that writes is audited and rate-limited.",
  checkRpc(rpc, report) {
    const { exposure, gateway, audit, rateLimit } = rpc.policy;
    if (exposure !== "PUBLIC" || gateway?.publish !== true || !isWrite(rpc)) return;
    const missing = [
      ...(audit === undefined ? ['audit: {event: "…", risk_level: …}'] : []),
      ...(rateLimit === undefined ? ["rate_limit: {qps: …}"] : []),
    ];
    if (missing.length === 0) return;
    const read =
      rpc.http.length === 0 ? ", or idempotency_level = NO_SIDE_EFFECTS if it only reads" : "";
    report.atRpc(
      `${rpc.name} writes and is published as PUBLIC, so anyone may call it; add ${missing.join(" and ")}${read}`,
    );
  },
});
