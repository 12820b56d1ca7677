import { EXPOSURES, POLICY_FIELD } from "../api/policy.ts";
import { policyRule } from "./rule.ts";

export const accessExposureRequired = policyRule({
  id: "ACCESS_EXPOSURE_REQUIRED",
  category: "ACCESS",
  purpose: "Checks that every access policy sets an exposure, since an absent one is never PUBLIC.",
  checkRpc(rpc, report) {
    const { exposure } = rpc.policy;
    if (exposure === undefined) {
      report.atRpc(
        `the policy of ${rpc.name} sets no exposure; set one of ${EXPOSURES.join(", ")}`,
      );
    } else if (typeof exposure !== "string") {
      report.atPolicy(
        `exposure ${exposure.unknown} is not one of ${EXPOSURES.join(", ")}`,
        POLICY_FIELD.exposure,
      );
    }
  },
});
