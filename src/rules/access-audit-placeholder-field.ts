import { AUDIT_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { placeholderProblems } from "./access-authz-placeholder-field.ts";
import { policyRule } from "./rule.ts";

export const accessAuditPlaceholderField = policyRule({
  id: "ACCESS_AUDIT_PLACEHOLDER_FIELD",
  category: "ACCESS",
  purpose:
    "Checks that each placeholder of audit.resource names a singular string, integer or enum field of a single request, or a field of the principal.",
  checkRpc(rpc, report) {
    if (rpc.auditResource?.template === undefined) return;
    const streams = rpc.stream === "client_streaming" || rpc.stream === "bidi_streaming";
    const problems = [...placeholderProblems(rpc.auditResource)];
    if (streams) {
      for (const { path } of rpc.auditResource.fields) {
        problems.push(
          `{${path}} cannot be read, as the client of ${rpc.name} streams many requests; let the handler set the object with context.audit.setResource, or name a fixed object`,
        );
      }
    }
    for (const problem of problems) {
      report.atPolicy(`audit.resource: ${problem}`, POLICY_FIELD.audit, AUDIT_FIELD.resource);
    }
  },
});
