import { atRpc, rpcRule } from "./rule.ts";

export const accessPolicyRequired = rpcRule({
  id: "ACCESS_POLICY_REQUIRED",
  category: "ACCESS",
  purpose: "Checks that every RPC carries the option svc.access.v1.policy.",
  *checkRpc(rpc) {
    if (rpc.policy !== undefined) return;
    yield atRpc(
      rpc,
      `${rpc.name} has no access policy; add option (svc.access.v1.policy) = {exposure: …}`,
    );
  },
});
