import { AUTHZ_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { policyRule } from "./rule.ts";

export const accessAuthzPlaceholderStreaming = policyRule({
  id: "ACCESS_AUTHZ_PLACEHOLDER_STREAMING",
  category: "ACCESS",
  purpose:
    "Checks that no placeholder names a request field of a client-streaming RPC, since there is no single request to read.",
  checkRpc(rpc, report) {
    if (rpc.stream !== "client_streaming" && rpc.stream !== "bidi_streaming") return;
    if (rpc.resource?.template === undefined) return;
    for (const { path } of rpc.resource.fields) {
      report.atPolicy(
        `authz.resource: {${path}} cannot be read, as the client of ${rpc.name} streams many requests; name a fixed object, type:* or a field of the principal`,
        POLICY_FIELD.authz,
        AUTHZ_FIELD.resource,
      );
    }
  },
});
