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

/** By which `breaking` in `buf.yaml` selects them. */
export const BREAKING_CATEGORY = {
  id: "ACCESS_BREAKING",
  purpose: "Checks that no change of an RPC's policy lets more in, or has less recorded.",
} as const;

/**
 * Compares the policies of each RPC that is in both.
 *
 * @param before - what is compared with, such as the main branch
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
    // What said nothing, or nothing that could be believed, cannot be weakened.
    if (policy === undefined) continue;
    const changed = { before: policy, rpc, now: rpc.policy ?? {} };
    for (const rule of rules) {
      for (const finding of rule.check(changed)) yield { rule, finding };
    }
  }
}

/** Those that are served, also where svc-access.yaml does not say by whom. */
function* rpcsOf({ services, unassigned }: Api): Iterable<Rpc> {
  for (const { rpc } of eachRpc(services)) yield rpc;
  for (const { rpcs } of unassigned) yield* rpcs;
}
