import { SUBJECT_HEADER } from "../../api/identity-headers.ts";
import type { OutputFile } from "../output-file.ts";
import type { FrontendPlan, GatewayPlan, HttpRoutePlan, LimitPlan } from "./plan.ts";
import { printRoute } from "./print-route.ts";
import { loginSpec, openSpec } from "./print-security-policy.ts";
import { type CommentedResource, GATEWAY_API, printFile, resource } from "./resource.ts";

/**
 * The file of a frontend: its policies, and behind them the routes that they
 * cover. A route that is applied before its policy is open.
 */
export function printFrontend(frontend: FrontendPlan, plan: GatewayPlan): OutputFile {
  const { name, host, namespace, routes } = frontend;
  const covered = (policy: string) => routes.filter((route) => route.policy === policy);
  const documents: CommentedResource[] = [];
  if (covered(frontend.login.name).length > 0) {
    documents.push({
      comment: `The one policy of all that ${name} has behind the login, pages and API: two would be two sessions.`,
      resource: resource("SecurityPolicy", frontend.login.name, namespace, {
        targetRefs: covered(frontend.login.name).map(routeRef),
        ...loginSpec(frontend),
      }),
    });
  }
  if (frontend.open !== undefined) {
    documents.push({
      comment: `The PUBLIC routes of ${name}: no login.`,
      resource: resource("SecurityPolicy", frontend.open.name, namespace, {
        targetRefs: covered(frontend.open.name).map(routeRef),
        ...openSpec(frontend.open, frontend.cors),
      }),
    });
  }
  for (const limit of frontend.limits) documents.push(printLimit(limit, frontend, plan));
  for (const route of routes) documents.push(printRoute(route, frontend, plan));
  return { name: `gateway/hosts/${host}/${name}.yaml`, content: printFile(documents) };
}

function routeRef({ name }: Pick<HttpRoutePlan, "name">): Record<string, string> {
  return { group: GATEWAY_API, kind: "HTTPRoute", name };
}

function printLimit(
  limit: LimitPlan,
  frontend: FrontendPlan,
  plan: GatewayPlan,
): CommentedResource {
  const { by, requestsPerSecond: requests, targets, name } = limit;
  const rules = SELECTORS[by].map((clientSelector) => {
    return { clientSelectors: [clientSelector], limit: { requests, unit: "Second" } };
  });
  const who = by === "subject" ? "subject" : "client address";
  const where =
    plan.rateLimit === "local"
      ? "Each Envoy counts for itself"
      : "The rate-limit service of Envoy Gateway counts; its configuration must enable one";
  return {
    comment: `${requests} requests a second for each ${who} and each rule. ${where}.\nCoarse protection: the exact limit of an RPC is the service's.`,
    resource: resource("BackendTrafficPolicy", name, frontend.namespace, {
      targetRefs: targets.map(({ route, rule }) => ({
        ...routeRef({ name: route }),
        sectionName: rule,
      })),
      rateLimit: { [plan.rateLimit]: { rules } },
    }),
  };
}

/** `Distinct` counts each value by itself, in the local and in the global kind. */
const SELECTORS: Readonly<Record<LimitPlan["by"], readonly Record<string, unknown>[]>> = {
  // The rate limit runs behind the JWT, which has set the header by then.
  subject: [{ headers: [{ name: SUBJECT_HEADER, type: "Distinct" }] }],
  address: [
    { sourceCIDR: { type: "Distinct", value: "0.0.0.0/0" } },
    { sourceCIDR: { type: "Distinct", value: "::/0" } },
  ],
};
