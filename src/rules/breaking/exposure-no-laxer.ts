import { EXPOSURES, POLICY_FIELD } from "../../api/policy.ts";
import { atPolicy, atRpc } from "../rule.ts";
import type { BreakingRule } from "./breaking-rule.ts";

export const exposureNoLaxer: BreakingRule = {
  id: "ACCESS_EXPOSURE_NO_LAXER",
  purpose:
    "Checks that no exposure is laxer than before, in the order SYSTEM, INTERNAL, AUTHORIZED, AUTHENTICATED, PUBLIC.",
  *check({ before: { exposure: before }, now: { exposure: now }, rpc }) {
    if (typeof before !== "string") return;
    if (typeof now !== "string") {
      yield atRpc(rpc, `${rpc.name} was ${before}, and no longer has a known exposure`);
    } else if (EXPOSURES.indexOf(now) < EXPOSURES.indexOf(before)) {
      yield atPolicy(
        rpc,
        `${rpc.name} was ${before}, and ${now} allows more callers`,
        POLICY_FIELD.exposure,
      );
    }
  },
};
