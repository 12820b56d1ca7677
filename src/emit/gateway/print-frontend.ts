import type { OutputFile } from "../output-file.ts";
import type { FrontendPlan, GatewayPlan, HttpRoutePlan, RouteMatch, RulePlan } from "./plan.ts";
import type { BackendTarget } from "./plan-references.ts";
import { loginSpec, openSpec } from "./print-security-policy.ts";
import { printErrors, printLimit } from "./print-traffic-policy.ts";
import {
  type CommentedResource,
  ENVOY_GATEWAY,
  GATEWAY_API,
  printFile,
  resource,
  routeRef,
} from "./resource.ts";

/**
 * The file of a frontend: its policies, then the routes that they cover. A route
 * that is applied before its policy would be open.
 */
export function printFrontend(frontend: FrontendPlan, plan: GatewayPlan): OutputFile {
  const { name, host, namespace, routes } = frontend;
  const covered = (policy: string) => routes.filter((route) => route.policy === policy);
  const documents: CommentedResource[] = [];
  if (covered(frontend.login.name).length > 0) {
    documents.push({
      comment: `The policy of all routes of ${name} behind the login, for pages and API: two policies would mean two sessions.`,
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
  if (frontend.errors !== undefined) documents.push(printErrors(frontend.errors, frontend));
  for (const limit of frontend.limits) documents.push(printLimit(limit, frontend, plan));
  for (const route of routes) documents.push(printRoute(route, frontend, plan));
  return { name: `gateway/hosts/${host}/${name}.yaml`, content: printFile(documents) };
}

/** An HTTPRoute, also for RPCs that are published as gRPC: `POST /<package>.<Service>/<Method>`. */
function printRoute(
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
    : `PUBLIC: the SecurityPolicy ${policy} requires no login.`;
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

/** The headers that make an OPTIONS request a preflight. */
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
