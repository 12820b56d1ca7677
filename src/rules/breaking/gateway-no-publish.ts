import { GATEWAY_FIELD, POLICY_FIELD } from "../../api/policy.ts";
import { atPolicy } from "../rule.ts";
import type { BreakingRule } from "./breaking-rule.ts";

export const gatewayNoPublish: BreakingRule = {
  id: "ACCESS_GATEWAY_NO_PUBLISH",
  purpose: "Checks that no RPC becomes published at the edge.",
  *check({ before, now, rpc }) {
    if (before.gateway?.publish === true || now.gateway?.publish !== true) return;
    yield atPolicy(
      rpc,
      `${rpc.name} was not published, and now the edge routes to it`,
      POLICY_FIELD.gateway,
      GATEWAY_FIELD.publish,
    );
  },
};
