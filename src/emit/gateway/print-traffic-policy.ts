import { SUBJECT_HEADER } from "../../api/identity-headers.ts";
import { responseOverrides } from "./edge-errors.ts";
import type { ErrorPlan, FrontendPlan, GatewayPlan, LimitPlan } from "./plan.ts";
import { type CommentedResource, resource, routeRef } from "./resource.ts";

/** The policy for the gateway's own error responses on the routes of services. */
export function printErrors(
  errors: ErrorPlan,
  { namespace, cors }: FrontendPlan,
): CommentedResource {
  return {
    comment:
      "The gateway's own error responses on these routes have the form of the services' errors. The\nlogin (302) and the responses of services stay unchanged.",
    resource: resource("BackendTrafficPolicy", errors.name, namespace, {
      targetRefs: errors.routes.map((name) => routeRef({ name })),
      responseOverride: responseOverrides(cors),
    }),
  };
}

/** A rate limit. It replaces the policy for errors on its rules, so it contains the same overrides. */
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
      ? "Each Envoy counts separately"
      : "The rate-limit service of Envoy Gateway counts; its configuration must enable one";
  return {
    comment: `${requests} requests per second for each ${who} and each rule. ${where}.\nThis is coarse protection: services enforce the exact limits of RPCs.`,
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

/** `Distinct` counts each value separately, in local and global rate limits. */
const SELECTORS: Readonly<Record<LimitPlan["by"], readonly Record<string, unknown>[]>> = {
  // The rate limit runs after JWT authentication, which sets the header.
  subject: [{ headers: [{ name: SUBJECT_HEADER, type: "Distinct" }] }],
  address: [
    { sourceCIDR: { type: "Distinct", value: "0.0.0.0/0" } },
    { sourceCIDR: { type: "Distinct", value: "::/0" } },
  ],
};
