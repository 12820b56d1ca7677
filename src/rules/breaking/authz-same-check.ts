import {
  AUTHZ_FIELD,
  DEFAULT_AUDIENCE,
  type DeclaredAuthz,
  POLICY_FIELD,
} from "../../api/policy.ts";
import { atPolicy } from "../rule.ts";
import type { BreakingRule } from "./breaking-rule.ts";

/** Every change is a finding: which of two checks is weaker depends on the model and the relationships. */
export const authzSameCheck: BreakingRule = {
  id: "ACCESS_AUTHZ_SAME_CHECK",
  purpose:
    "Checks that an AUTHORIZED RPC still checks the same permission of the same object, for the same type of subject.",
  *check({ before, now, rpc }) {
    if (before.exposure !== "AUTHORIZED" || now.exposure !== "AUTHORIZED") return;
    for (const key of ["action", "resource", "audience"] as const) {
      const [old, current] = [before.authz, now.authz].map((authz) => valueOf(authz, key));
      if (old === undefined || old === current) continue;
      const what = current === undefined ? "is no longer set" : `is now ${JSON.stringify(current)}`;
      yield atPolicy(
        rpc,
        `authz.${key} of ${rpc.name} was ${JSON.stringify(old)}, and ${what}: other callers may be allowed`,
        POLICY_FIELD.authz,
        AUTHZ_FIELD[key],
      );
    }
  },
};

function valueOf(
  authz: DeclaredAuthz | undefined,
  key: "action" | "resource" | "audience",
): string | undefined {
  return key === "audience" ? (authz?.audience ?? DEFAULT_AUDIENCE) : authz?.[key];
}
