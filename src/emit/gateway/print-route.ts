import type { FrontendPlan, GatewayPlan, HttpRoutePlan, RouteMatch, RulePlan } from "./plan.ts";
import type { BackendTarget } from "./plan-references.ts";
import { type CommentedResource, ENVOY_GATEWAY, GATEWAY_API, resource } from "./resource.ts";

/** An HTTPRoute. RPCs that are published as gRPC are one too: `POST /<package>.<Service>/<Method>`. */
export function printRoute(
  route: HttpRoutePlan,
  frontend: FrontendPlan,
  plan: GatewayPlan,
): CommentedResource {
  const { name, namespace } = plan.gateway;
  const parent = {
    group: GATEWAY_API,
    kind: "Gateway",
    name,
    ...(namespace === frontend.namespace ? {} : { namespace }),
  };
  const { sections } = frontend;
  return {
    comment: describeRoute(route),
    resource: resource("HTTPRoute", route.name, frontend.namespace, {
      parentRefs:
        sections.length === 0
          ? [parent]
          : sections.map((sectionName) => ({ ...parent, sectionName })),
      hostnames: [frontend.host],
      rules: route.rules.map((rule) => printRule(rule, frontend.namespace)),
    }),
  };
}

function describeRoute({ access, policy }: HttpRoutePlan): string {
  if (access === "login") return `Covered by the SecurityPolicy ${policy}.`;
  return policy === undefined
    ? "PUBLIC: no SecurityPolicy covers it."
    : `PUBLIC: the SecurityPolicy ${policy} asks for no login.`;
}

function printRule(rule: RulePlan, namespace: string): Record<string, unknown> {
  return {
    ...(rule.name === undefined ? {} : { name: rule.name }),
    matches: rule.entries.map(({ match }) => printMatch(match)),
    backendRefs: [backendRef(rule.backend, namespace)],
    timeouts: { request: rule.timeout },
  };
}

function printMatch({ path, method, preflight }: RouteMatch): Record<string, unknown> {
  return {
    path: { type: path.type, value: path.value },
    ...(method === undefined ? {} : { method }),
    ...(preflight ? { headers: PREFLIGHT_HEADERS } : {}),
  };
}

/** What makes an OPTIONS request a preflight. */
const PREFLIGHT_HEADERS = [
  { type: "RegularExpression", name: "origin", value: ".+" },
  { type: "RegularExpression", name: "access-control-request-method", value: ".+" },
];

function backendRef(target: BackendTarget, namespace: string): Record<string, unknown> {
  return {
    group: target.kind === "Backend" ? ENVOY_GATEWAY : "",
    kind: target.kind,
    name: target.name,
    ...(target.namespace === namespace ? {} : { namespace: target.namespace }),
    ...(target.port === undefined ? {} : { port: target.port }),
  };
}
