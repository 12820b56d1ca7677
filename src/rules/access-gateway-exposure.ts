import { GATEWAY_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { policyRule } from "./rule.ts";

export const accessGatewayExposure = policyRule({
  id: "ACCESS_GATEWAY_EXPOSURE",
  category: "ACCESS",
  purpose: "Checks that no INTERNAL or SYSTEM RPC is published at the edge.",
  checkRpc(rpc, report) {
    const { exposure, gateway } = rpc.policy;
    if (gateway?.publish !== true) return;
    if (exposure !== "INTERNAL" && exposure !== "SYSTEM") return;
    report.atPolicy(
      `${rpc.name} is ${exposure} and must not be published; remove gateway.publish`,
      POLICY_FIELD.gateway,
      GATEWAY_FIELD.publish,
    );
  },
});
