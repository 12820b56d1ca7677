import { accessRpcNameUnique } from "../../src/rules/access-rpc-name-unique.ts";
import { testRule } from "./rule-tester.ts";
import { rpc } from "./sources.ts";

testRule(accessRpcNameUnique, {
  valid: [
    rpc("Get") + rpc("List"),
    rpc("getIt") + rpc("Getit") + rpc("get_it") + rpc("_get"),
    { name: "of two services", rpcs: rpc("Get"), otherRpcs: rpc("get") },
  ],
  invalid: [
    {
      rpcs: `${rpc("GetFoo")}⟦${rpc("getFoo")}`,
      messages: [
        "getFoo has the handler name of GetFoo (CASE.proto:7:1), getFoo; rename one of them",
      ],
    },
    {
      name: "three of one name",
      rpcs: `${rpc("Get")}⟦${rpc("get")}${rpc("List")}⟦${rpc("list")}`,
      messages: ["get has the handler name of Get", "list has the handler name of List"],
    },
    {
      name: "the name of a method of every object",
      rpcs: `${rpc("toString")}⟦${rpc("ToString")}`,
      messages: ["ToString has the handler name of toString"],
    },
  ],
});
