import { accessAuthzPlaceholderStreaming } from "../../src/rules/access-authz-placeholder-streaming.ts";
import { testRule } from "./rule-tester.ts";
import { policy, rpc, streamRpc } from "./sources.ts";

const authorized = (resource: string, mark = "") =>
  policy(`exposure: AUTHORIZED authz: {action: "view", ${mark}resource: "${resource}"}`);

testRule(accessAuthzPlaceholderStreaming, {
  valid: [
    rpc("Get", authorized("skill:{id}")),
    streamRpc("Request", "stream Response", authorized("skill:{id}")),
    ...["skill:*", "skill:fixed", "organization:{principal.organization_id}"].map((resource) =>
      streamRpc("stream Request", "Response", authorized(resource)),
    ),
    streamRpc("stream Request", "stream Response", policy("exposure: PUBLIC")),
    {
      name: "a resource that does not parse, which another rule reports",
      rpcs: streamRpc("stream Request", "Response", authorized("skill")),
    },
  ],
  invalid: [
    {
      rpcs: streamRpc("stream Request", "Response", authorized("skill:{id}", "⟦")),
      messages: ["{id} cannot be read, as the client of Stream streams many requests"],
    },
    {
      rpcs: streamRpc("stream Request", "stream Response", authorized("skill:{inner.id}", "⟦")),
      messages: ["name a fixed object, type:* or a field of the principal"],
    },
    {
      name: "each placeholder of the request, but none of the principal",
      rpcs: streamRpc(
        "stream Request",
        "Response",
        authorized("skill:{id}-{principal.email}-{number}", "⟦⟦"),
      ),
      messages: ["{id} cannot be read", "{number} cannot be read"],
    },
  ],
});
