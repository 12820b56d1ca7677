import { atHttp, rpcRule } from "./rule.ts";

export const accessHttpRuleValid = rpcRule({
  id: "ACCESS_HTTP_RULE_VALID",
  category: "ACCESS",
  purpose:
    "Checks that google.api.http follows its grammar and names fields of the request and the response.",
  *checkRpc(rpc) {
    for (const { path, problems } of rpc.http) {
      for (const problem of problems) {
        yield atHttp(rpc, `google.api.http: ${problem.message}`, ...path, ...problem.path);
      }
    }
  },
});
