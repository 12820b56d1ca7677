import { accessPolicyRequired } from "../../src/rules/access-policy-required.ts";
import { testRule } from "./rule-tester.ts";
import { http, policy, rpc } from "./sources.ts";

testRule(accessPolicyRequired, {
  shows: "every RPC carries a policy [ANNO-1]",
  valid: [
    rpc("Get", policy("exposure: PUBLIC")),
    { name: "an empty policy, which is another rule's concern", rpcs: rpc("Get", policy("")) },
    rpc("Get", "option (svc.access.v1.policy).audit.event = 'a.b';"),
    { name: "a service without RPCs", rpcs: "" },
    {
      name: "a policy in a file of proto2",
      syntax: 'syntax = "proto2";',
      rpcs: rpc("Get", policy("exposure: SYSTEM")),
    },
    {
      name: "a policy in a file of an edition",
      syntax: 'edition = "2023";',
      rpcs: rpc("Get", policy("exposure: SYSTEM")),
    },
  ],
  invalid: [
    {
      name: "an RPC without options",
      rpcs: "  ⟦rpc Get(Request) returns (Response);",
      messages: ["Get has no access policy; add option (svc.access.v1.policy)"],
    },
    {
      name: "an RPC with other options",
      rpcs: `⟦${rpc("Get", http('get: "/v1/x"'), "option deprecated = true;")}`,
      messages: ["Get has no access policy"],
    },
    {
      name: "each RPC that lacks one, and no other",
      rpcs: `⟦${rpc("First")}${rpc("Second", policy("exposure: PUBLIC"))}⟦${rpc("Third")}`,
      messages: ["First has no access policy", "Third has no access policy"],
    },
    {
      name: "each service of the file",
      rpcs: "⟦rpc Get(Request) returns (Response);",
      declarations:
        "service T {\n  // A comment.\n  ⟦rpc Put(stream Request) returns (stream Response);\n}",
      messages: ["Get has no access policy", "Put has no access policy"],
    },
    {
      name: "the text policy in a comment",
      rpcs: `⟦${rpc("Get", "// option (svc.access.v1.policy) = {exposure: PUBLIC};")}`,
      messages: ["Get has no access policy"],
    },
    {
      name: "proto2 without a syntax line",
      syntax: "",
      rpcs: `⟦${rpc("Get")}`,
      messages: ["Get has no access policy"],
    },
    {
      name: "an edition",
      syntax: 'edition = "2023";',
      rpcs: `⟦${rpc("Get")}`,
      messages: ["Get has no access policy"],
    },
  ],
});
