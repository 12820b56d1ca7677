import { POLICY_FIELD } from "../api/policy.ts";
import { isWrite } from "../api/resolved-policy.ts";
import { policyRule } from "./rule.ts";

export const accessAuthzWrite = policyRule({
  id: "ACCESS_AUTHZ_WRITE",
  category: "ACCESS_RECOMMENDED",
  purpose: "Checks that every published RPC that writes is AUTHORIZED.",
  checkRpc(rpc, report) {
    const { exposure, gateway } = rpc.policy;
    if (gateway?.publish !== true || !isWrite(rpc)) return;
    if (exposure !== "PUBLIC" && exposure !== "AUTHENTICATED") return;
    report.atPolicy(
      `${rpc.name} writes and is published as ${exposure}; write exposure: AUTHORIZED with authz, on the parent if the object does not exist yet`,
      POLICY_FIELD.exposure,
    );
  },
});
