import { AUTHZ_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { rpcRule } from "./rule.ts";
import { wholeNames } from "./support/whole-name.ts";

export const accessAuthzWholeName = rpcRule({
  id: "ACCESS_AUTHZ_WHOLE_NAME",
  category: "ACCESS_RECOMMENDED",
  purpose:
    "Checks that no resource takes a whole name of several segments as an object id, where one of its segments is likely the id.",
  checkRpc(rpc, report) {
    for (const { path, pattern, instead, isOther } of wholeNames(rpc)) {
      // What can never match is reported by ACCESS_AUTHZ_NAME_SEGMENT.
      if (isOther) continue;
      const fix =
        instead === undefined ? "" : `write ${instead} where ids are made of its segments, or `;
      report.atPolicy(
        `authz.resource: {${path}} is the whole name ${pattern}; ${fix}ignore this where object ids are whole names`,
        POLICY_FIELD.authz,
        AUTHZ_FIELD.resource,
      );
    }
  },
});
