import { rpcRule } from "./rule.ts";

export const accessAnnotationGenuine = rpcRule({
  id: "ACCESS_ANNOTATION_GENUINE",
  category: "ACCESS",
  purpose:
    "Checks that every access policy uses svc-access's own definition of svc.access.v1.policy, and has no field that this version does not know.",
  checkRpc(rpc, report) {
    for (const { message, path } of rpc.policyProblems ?? []) {
      report.atPolicy(`the access policy of ${rpc.name} is not read: ${message}`, ...path);
    }
  },
});
