import { rpcRule } from "./rule.ts";

export const accessPolicyRequired = rpcRule({
  id: "ACCESS_POLICY_REQUIRED",
  category: "ACCESS",
  purpose: "Checks that every RPC carries the option svc.access.v1.policy.",
  checkRpc(rpc, report) {
    // One that is there and cannot be believed is reported by ACCESS_ANNOTATION_GENUINE.
    if (rpc.policy !== undefined || rpc.policyProblems !== undefined) return;
    report.atRpc(
      `${rpc.name} has no access policy; add option (svc.access.v1.policy) = {exposure: …}`,
    );
  },
});
