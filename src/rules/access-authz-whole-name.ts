import { AUTHZ_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { policyRule } from "./rule.ts";
import { wholeNames } from "./support/whole-name.ts";

export const accessAuthzWholeName = policyRule({
  id: "ACCESS_AUTHZ_WHOLE_NAME",
  category: "ACCESS_RECOMMENDED",
  purpose:
    "Checks that no resource uses a whole name of several segments as an object id if one of its segments is probably the id.",
  checkRpc(rpc, report) {
    for (const { path, pattern, instead, isOther } of wholeNames(rpc)) {
      // ACCESS_AUTHZ_NAME_SEGMENT reports names that can never match.
      if (isOther) continue;
      const fix =
        instead === undefined ? "" : `write ${instead} if ids consist of its segments, or `;
      report.atPolicy(
        `authz.resource: {${path}} is the whole name ${pattern}; ${fix}ignore this if object ids are whole names`,
        POLICY_FIELD.authz,
        AUTHZ_FIELD.resource,
      );
    }
  },
});
