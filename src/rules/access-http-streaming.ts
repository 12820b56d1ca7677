import { rpcRule } from "./rule.ts";

export const accessHttpStreaming = rpcRule({
  id: "ACCESS_HTTP_STREAMING",
  category: "ACCESS_RECOMMENDED",
  purpose: "Checks that no RPC that streams from the client has google.api.http.",
  checkRpc(rpc, report) {
    if (rpc.stream !== "client_streaming" && rpc.stream !== "bidi_streaming") return;
    if (rpc.http.length === 0) return;
    report.atHttp(
      `the client of ${rpc.name} streams, so that its routes answer 501; remove google.api.http: gRPC and Connect serve the RPC without it`,
    );
  },
});
