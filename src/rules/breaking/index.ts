import type { Api, Rpc } from "../../api/api.ts";
import { eachRpc } from "../../api/resolved-policy.ts";
import type { Finding } from "../rule.ts";
import { auditNoDelete } from "./audit-no-delete.ts";
import { authzSameCheck } from "./authz-same-check.ts";
import type { BreakingRule } from "./breaking-rule.ts";
import { exposureNoLaxer } from "./exposure-no-laxer.ts";
import { gatewayNoPublish } from "./gateway-no-publish.ts";
import { rateLimitNoLaxer } from "./rate-limit-no-laxer.ts";

/** The rules of `buf breaking`, in the order of the reference. */
export const BREAKING_RULES: readonly BreakingRule[] = [
  exposureNoLaxer,
  authzSameCheck,
  auditNoDelete,
  rateLimitNoLaxer,
  gatewayNoPublish,
];

/** The category with which `breaking` in `buf.yaml` selects them. */
export const BREAKING_CATEGORY = {
  id: "ACCESS_BREAKING",
  purpose: "Checks that no change of an RPC's policy allows more calls or audits fewer.",
} as const;

/**
 * Compares the policies of each RPC in both versions.
 *
 * @param before - the former version, such as the main branch
 */
export function* findBreaking(
  before: Api,
  now: Api,
  rules: readonly BreakingRule[],
): Iterable<{ readonly rule: BreakingRule; readonly finding: Finding }> {
  const former = new Map<string, Rpc>();
  for (const rpc of rpcsOf(before)) former.set(rpc.fullName, rpc);
  for (const rpc of rpcsOf(now)) {
    const policy = former.get(rpc.fullName)?.policy;
    // A missing policy, or one that cannot be trusted, cannot become weaker.
    if (policy === undefined) continue;
    const changed = { before: policy, rpc, now: rpc.policy ?? {} };
    for (const rule of rules) {
      for (const finding of rule.check(changed)) yield { rule, finding };
    }
  }
}

/** The RPCs that are served, including those of packages that svc-access.yaml does not list. */
function* rpcsOf({ services, unassigned }: Api): Iterable<Rpc> {
  for (const { rpc } of eachRpc(services)) yield rpc;
  for (const { rpcs } of unassigned) yield* rpcs;
}
