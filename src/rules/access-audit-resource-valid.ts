import { AUDIT_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { atPolicy, rpcRule } from "./rule.ts";

export const accessAuditResourceValid = rpcRule({
  id: "ACCESS_AUDIT_RESOURCE_VALID",
  category: "ACCESS",
  purpose:
    "Checks that audit.resource is type:id, as authz.resource is, and stands only where the exposure is not AUTHORIZED.",
  *checkRpc(rpc) {
    const { auditResource, policy } = rpc;
    if (auditResource === undefined) return;
    if (policy?.exposure === "AUTHORIZED") {
      yield atPolicy(
        rpc,
        `the audit event of ${rpc.name} has the object of authz.resource, as it is AUTHORIZED; remove audit.resource`,
        POLICY_FIELD.audit,
        AUDIT_FIELD.resource,
      );
    }
    if (auditResource.template !== undefined) return;
    yield atPolicy(
      rpc,
      `audit.resource: ${auditResource.error}`,
      POLICY_FIELD.audit,
      AUDIT_FIELD.resource,
    );
  },
});
