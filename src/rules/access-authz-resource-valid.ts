import { AUTHZ_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { policyRule } from "./rule.ts";

export const accessAuthzResourceValid = policyRule({
  id: "ACCESS_AUTHZ_RESOURCE_VALID",
  category: "ACCESS",
  purpose:
    "Checks that authz.resource is type:id, with an id of literal characters and placeholders, or *.",
  checkRpc(rpc, report) {
    const { resource } = rpc;
    // ACCESS_AUTHZ_REQUIRED reports an empty one.
    if (resource === undefined || resource.template !== undefined) return;
    if (rpc.policy.authz?.resource === "" && rpc.policy.exposure === "AUTHORIZED") return;
    report.atPolicy(`authz.resource: ${resource.error}`, POLICY_FIELD.authz, AUTHZ_FIELD.resource);
  },
});
