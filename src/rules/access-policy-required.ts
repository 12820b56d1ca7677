import { rpcRule } from "./rule.ts";

export const accessPolicyRequired = rpcRule({
  id: "ACCESS_POLICY_REQUIRED",
  category: "ACCESS",
  purpose: "Checks that every RPC carries the option svc.access.v1.policy.",
  checkRpc(rpc, report) {
    // ACCESS_ANNOTATION_GENUINE reports a policy that cannot be trusted.
    if (rpc.policy !== undefined || rpc.policyProblems !== undefined) return;
    report.atRpc(
      `${rpc.name} has no access policy; add option (svc.access.v1.policy) = {exposure: …}`,
    );
  },
});
