import { SUBJECT_HEADER } from "../../api/identity-headers.ts";
import { responseOverrides } from "./edge-errors.ts";
import type { ErrorPlan, FrontendPlan, GatewayPlan, LimitPlan } from "./plan.ts";
import { type CommentedResource, resource, routeRef } from "./resource.ts";

/** The form of what the gateway answers by itself on the routes of services. */
export function printErrors(
  errors: ErrorPlan,
  { namespace, cors }: FrontendPlan,
): CommentedResource {
  return {
    comment:
      "What the gateway itself answers on these routes has the form of the services' errors. The login\n(302) and the answers of services stay as they are.",
    resource: resource("BackendTrafficPolicy", errors.name, namespace, {
      targetRefs: errors.routes.map((name) => routeRef({ name })),
      responseOverride: responseOverrides(cors),
    }),
  };
}

/** A rate limit. It replaces the policy of errors on its rules whole, so it says the same of them. */
export function printLimit(
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
      responseOverride: responseOverrides(frontend.cors),
    }),
  };
}

/** `Distinct` counts each value by itself, in the local and in the global kind. */
const SELECTORS: Readonly<Record<LimitPlan["by"], readonly Record<string, unknown>[]>> = {
  // The rate limit runs after the check of the JWT, which has set the header by then.
  subject: [{ headers: [{ name: SUBJECT_HEADER, type: "Distinct" }] }],
  address: [
    { sourceCIDR: { type: "Distinct", value: "0.0.0.0/0" } },
    { sourceCIDR: { type: "Distinct", value: "::/0" } },
  ],
};
