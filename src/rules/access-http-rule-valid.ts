import { rpcRule } from "./rule.ts";

export const accessHttpRuleValid = rpcRule({
  id: "ACCESS_HTTP_RULE_VALID",
  category: "ACCESS",
  purpose:
    "Checks that google.api.http follows its grammar and names fields of the request and the response.",
  checkRpc(rpc, report) {
    for (const { path, problems } of rpc.http) {
      for (const problem of problems) {
        report.atHttp(`google.api.http: ${problem.message}`, ...path, ...problem.path);
      }
    }
  },
});
