import { AUTHZ_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { policyRule } from "./rule.ts";
import { wholeNames } from "./support/whole-name.ts";

export const accessAuthzNameSegment = policyRule({
  id: "ACCESS_AUTHZ_NAME_SEGMENT",
  category: "ACCESS",
  purpose:
    "Checks that no resource uses the whole name of one object as the id of another object in that name, such as merchant:{name} for merchants/*/ledgers/*.",
  checkRpc(rpc, report) {
    for (const { path, pattern, instead, isOther } of wholeNames(rpc)) {
      if (!isOther) continue;
      report.atPolicy(
        `authz.resource: {${path}} is the whole name ${pattern}, which is never the id of a ${rpc.resource?.template?.type}; write ${instead}`,
        POLICY_FIELD.authz,
        AUTHZ_FIELD.resource,
      );
    }
  },
});
