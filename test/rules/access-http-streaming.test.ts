import { accessHttpStreaming } from "../../src/rules/access-http-streaming.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc, streamRpc } from "./sources.ts";

const POLICY = policy("exposure: AUTHENTICATED");
const ROUTE = 'post: "/v1/x" body: "*"';

testRule(accessHttpStreaming, {
  valid: [
    rpc("Get", http(ROUTE), POLICY),
    streamRpc("Request", "stream Response", http(ROUTE), POLICY),
    streamRpc("stream Request", "Response", POLICY),
    streamRpc("stream Request", "stream Response"),
  ],
  invalid: [
    {
      rpcs: streamRpc("stream Request", "Response", http(ROUTE, "⟦"), POLICY),
      messages: ["the client of Stream streams, so that its routes answer 501; remove google.api"],
    },
    {
      rpcs: streamRpc(
        "stream Request",
        "stream Response",
        http(`${ROUTE} additional_bindings {put: "/v1/x" body: "*"}`, "⟦"),
      ),
      messages: ["the client of Stream streams"],
    },
  ],
});
