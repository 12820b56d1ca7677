import { AUDIT_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { policyRule } from "./rule.ts";

export const accessAuditResourceValid = policyRule({
  id: "ACCESS_AUDIT_RESOURCE_VALID",
  category: "ACCESS",
  purpose:
    "Checks that audit.resource is type:id, like authz.resource, and is not set on an AUTHORIZED RPC.",
  checkRpc(rpc, report) {
    const { auditResource, policy } = rpc;
    if (auditResource === undefined) return;
    if (policy.exposure === "AUTHORIZED") {
      report.atPolicy(
        `${rpc.name} is AUTHORIZED, so its audit event already has the object of authz.resource; remove audit.resource`,
        POLICY_FIELD.audit,
        AUDIT_FIELD.resource,
      );
    }
    if (auditResource.template !== undefined) return;
    report.atPolicy(
      `audit.resource: ${auditResource.error}`,
      POLICY_FIELD.audit,
      AUDIT_FIELD.resource,
    );
  },
});
