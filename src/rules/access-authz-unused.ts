import { POLICY_FIELD } from "../api/policy.ts";
import { policyRule } from "./rule.ts";

export const accessAuthzUnused = policyRule({
  id: "ACCESS_AUTHZ_UNUSED",
  category: "ACCESS",
  purpose: "Checks that only AUTHORIZED RPCs have authz, since no other exposure enforces it.",
  checkRpc(rpc, report) {
    const { exposure, authz } = rpc.policy;
    if (authz === undefined || typeof exposure !== "string" || exposure === "AUTHORIZED") return;
    report.atPolicy(
      `authz is not enforced on ${exposure}; write exposure: AUTHORIZED, or remove authz`,
      POLICY_FIELD.authz,
    );
  },
});
