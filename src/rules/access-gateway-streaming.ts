import { GATEWAY_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { policyRule } from "./rule.ts";

export const accessGatewayStreaming = policyRule({
  id: "ACCESS_GATEWAY_STREAMING",
  category: "ACCESS",
  purpose:
    "Checks that no published RPC streams from the client, unless its service is published as gRPC.",
  checkRpc(rpc, report, { deployed }) {
    if (rpc.stream !== "client_streaming" && rpc.stream !== "bidi_streaming") return;
    if (rpc.policy.gateway?.publish !== true || deployed.publishedAs === "grpc") return;
    report.atPolicy(
      `the client of ${rpc.name} streams, which HTTP cannot carry; remove gateway.publish, or write published_as: grpc for the service in svc-access.yaml`,
      POLICY_FIELD.gateway,
      GATEWAY_FIELD.publish,
    );
  },
});
