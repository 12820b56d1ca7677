import { AUTHZ_FIELD, AUTHZ_MODES, POLICY_FIELD } from "../api/policy.ts";
import { policyRule } from "./rule.ts";

export const accessAuthzRequired = policyRule({
  id: "ACCESS_AUTHZ_REQUIRED",
  category: "ACCESS",
  purpose: "Checks that an AUTHORIZED RPC has authz with an action and a resource.",
  checkRpc(rpc, report) {
    if (rpc.policy.exposure !== "AUTHORIZED") return;
    const { authz } = rpc.policy;
    if (authz === undefined) {
      report.atRpc(
        `${rpc.name} is AUTHORIZED without authz; add authz: {action: "…", resource: "type:{field}"}`,
      );
      return;
    }
    if (authz.action === undefined) {
      report.atRpc(
        `authz of ${rpc.name} has no action; add a permission of the model, such as view`,
      );
    } else if (authz.action === "") {
      report.atPolicy(
        "authz.action is empty; name a permission of the model, such as view",
        POLICY_FIELD.authz,
        AUTHZ_FIELD.action,
      );
    }
    if (authz.resource === undefined) {
      report.atRpc(`authz of ${rpc.name} has no resource; add one, such as skill:{skill_id}`);
    } else if (authz.resource === "") {
      report.atPolicy(
        "authz.resource is empty; write type:id, such as skill:{skill_id}",
        POLICY_FIELD.authz,
        AUTHZ_FIELD.resource,
      );
    }
    if (authz.mode !== undefined && typeof authz.mode !== "string") {
      report.atPolicy(
        `authz.mode ${authz.mode.unknown} is not one of ${AUTHZ_MODES.join(", ")}`,
        POLICY_FIELD.authz,
        AUTHZ_FIELD.mode,
      );
    }
  },
});
