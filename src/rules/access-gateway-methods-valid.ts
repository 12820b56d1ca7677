import type { Rpc } from "../api/api.ts";
import { GATEWAY_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { policyRule, type RpcReport } from "./rule.ts";

/** More does not occur in an API, only in a forged image: its findings would be larger than the image. */
const MAX_REPORTED = 100;

export const accessGatewayMethodsValid = policyRule({
  id: "ACCESS_GATEWAY_METHODS_VALID",
  category: "ACCESS",
  purpose:
    "Checks that gateway.methods, if set, are exactly the HTTP methods that google.api.http binds.",
  checkRpc(rpc, report) {
    const declared = rpc.policy.gateway?.methods ?? [];
    if (declared.length === 0) return;
    // ACCESS_HTTP_RULE_VALID reports rules that do not parse.
    if (rpc.http.some(({ binding }) => binding === undefined)) return;
    const bound = boundMethods(rpc);
    const seen = new Set<string>();
    let wrong = 0;
    for (const [index, method] of declared.entries()) {
      const problem = methodProblem(method, bound, seen);
      seen.add(method);
      if (problem === undefined) continue;
      if (++wrong > MAX_REPORTED) {
        reportMethods(report, "gateway.methods has further methods that are wrong", index);
        break;
      }
      reportMethods(report, problem, index);
    }
    // A wrong method probably replaces a missing one.
    const missing = [...bound].filter((method) => !seen.has(method));
    if (wrong === 0 && missing.length > 0) {
      reportMethods(
        report,
        `gateway.methods lacks ${missing.join(", ")}, which google.api.http binds`,
      );
    }
  },
});

function boundMethods(rpc: Rpc): Set<string> {
  // Without google.api.http, an RPC is called with POST.
  if (rpc.http.length === 0) return new Set(["POST"]);
  return new Set(
    rpc.http.flatMap(({ binding }) => (binding === undefined ? [] : [binding.method])),
  );
}

function methodProblem(
  method: string,
  bound: ReadonlySet<string>,
  seen: ReadonlySet<string>,
): string | undefined {
  if (seen.has(method)) return `gateway.methods has ${JSON.stringify(method)} twice`;
  if (bound.has(method)) return undefined;
  if (bound.has(method.toUpperCase())) {
    return `gateway.methods: HTTP methods are case-sensitive; write ${method.toUpperCase()}`;
  }
  return `gateway.methods has ${JSON.stringify(method)}, but google.api.http binds ${[...bound].join(", ")}`;
}

function reportMethods(report: RpcReport, message: string, ...index: number[]): void {
  report.atPolicy(message, POLICY_FIELD.gateway, GATEWAY_FIELD.methods, ...index);
}
