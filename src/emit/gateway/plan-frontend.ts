import { servesHost } from "../../config/check-edge.ts";
import type { EdgeConfig, IdentityConfig } from "../../config/edge-config.ts";
import { originsOf } from "../../config/frontend.ts";
import { compareText } from "../../diagnostics/diagnostic.ts";
import type {
  Access,
  FrontendPlan,
  LimitPlan,
  PathMatch,
  PlannedRoute,
  RouteMatch,
} from "./plan.ts";
import type { HostClaims } from "./plan-host.ts";
import { loginPolicy } from "./plan-policies.ts";
import type { ClaimSource, RouteClaim } from "./route-claims.ts";
import { type PackedEntry, packRoutes } from "./route-packing.ts";

/** Packs the routes of a frontend into resources, and assigns a policy to each. */
export function planFrontend(
  source: ClaimSource,
  host: HostClaims,
  edge: EdgeConfig,
  identity: IdentityConfig,
): FrontendPlan {
  const { frontend, config, references } = source;
  const { name } = frontend;
  const claims = host.claims.get(name) ?? [];
  const cors = config.allowed_origins.length > 0;
  const preflights = cors ? preflightClaims(claims) : new Set<RouteClaim>();
  const login = loginPolicy(name, config, identity, edge);
  // Without the backstop, PUBLIC routes are open, so they need no policy.
  const openName = edge.backstop || cors ? `${name}.public` : undefined;

  const groups = new Map<string, { group: string; access: Access; entries: PackedEntry[] }>();
  for (const claim of claims) {
    const { access, group, backend, timeout, limit } = claim;
    const key = `${group} ${access}`;
    let target = groups.get(key);
    if (target === undefined) {
      target = { group, access, entries: [] };
      groups.set(key, target);
    }
    const path = host.matches.get(claim.shape) as PathMatch;
    const matches: RouteMatch[] = [
      claim.method === "*" ? { path } : { path, method: claim.method },
      ...(preflights.has(claim) ? [{ path, method: "OPTIONS", preflight: true } as const] : []),
    ];
    for (const match of matches) {
      target.entries.push({
        entry: entryOf(claim, match, login.name),
        backend,
        timeout,
        ...(limit === undefined ? {} : { limit }),
      });
    }
    const referrer = { kind: "HTTPRoute", namespace: config.namespace } as const;
    references.refer(referrer, backend);
  }
  if (claims.length > 0 && login.session !== undefined) {
    const { namespace } = config;
    const secret = { kind: "Secret", namespace, ...login.session.clientSecret } as const;
    references.refer({ kind: "SecurityPolicy", namespace: config.namespace }, secret);
  }

  const routes: FrontendPlan["routes"][number][] = [];
  const serviceRoutes: string[] = [];
  const limits = new Map<string, LimitPlan & { targets: LimitPlan["targets"][number][] }>();
  for (const [, { group, access, entries }] of [...groups].sort(([a], [b]) => compareText(a, b))) {
    // A dot separates the names, since frontend and service names have no dots.
    const base = group === "" ? name : `${name}.${group}`;
    const suffix = access === "open" ? ".public" : "";
    const packed = packRoutes(entries, (index) => `${base}.${index}${suffix}`);
    const policy = access === "login" ? login.name : openName;
    for (const route of packed.routes) {
      if (group !== "") serviceRoutes.push(route.name);
      routes.push({
        name: route.name,
        access,
        ...(policy === undefined ? {} : { policy }),
        rules: route.rules,
      });
    }
    for (const { limit, target } of packed.limited) {
      const limitName = `${name}.limit-${limit}${suffix}`;
      const known = limits.get(limitName);
      if (known !== undefined) known.targets.push(target);
      else {
        limits.set(limitName, {
          name: limitName,
          by: access === "login" ? "subject" : "address",
          requestsPerSecond: limit,
          targets: [target],
        });
      }
    }
  }
  return {
    name,
    host: config.host,
    namespace: config.namespace,
    sections: sectionsOf(edge, config.host),
    ...(cors
      ? {
          cors: { origins: originsOf(config).sort(compareText), connect: config.connect },
        }
      : {}),
    login,
    ...(openName !== undefined && routes.some(({ access }) => access === "open")
      ? { open: { name: openName, allow: edge.backstop } }
      : {}),
    routes,
    ...(serviceRoutes.length > 0
      ? { errors: { name: `${name}.errors`, routes: serviceRoutes } }
      : {}),
    limits: [...limits.values()],
  };
}

function entryOf(claim: RouteClaim, match: RouteMatch, policy: string): PlannedRoute {
  const { owner, exposure, shape, access } = claim;
  return {
    owner,
    exposure,
    shape,
    match,
    ...(access === "login" ? { coveredBy: policy } : { open: "PUBLIC" }),
  };
}

/**
 * The claims that also get the preflights of their path: one for each path without
 * a route for OPTIONS. Envoy Gateway does not route preflights itself, and answers
 * them only on a route whose policy has CORS.
 */
function preflightClaims(claims: readonly RouteClaim[]): Set<RouteClaim> {
  const byShape = new Map<string, RouteClaim>();
  const routed = new Set<string>();
  for (const claim of claims) {
    if (claim.method === "*" || claim.method === "OPTIONS") routed.add(claim.shape);
    const known = byShape.get(claim.shape);
    // A preflight of another origin is forwarded to the route, so prefer one behind the login.
    if (known === undefined || (known.access === "open" && claim.access === "login")) {
      byShape.set(claim.shape, claim);
    }
  }
  return new Set([...byShape.values()].filter(({ shape }) => !routed.has(shape)));
}

/**
 * The listeners that a host's routes attach to; empty for all of them.
 *
 * A host with an HTTPS listener is not served over HTTP: the session cookie needs TLS.
 */
function sectionsOf(edge: EdgeConfig, host: string): string[] {
  const serving = edge.listeners.filter((listener) => servesHost(listener, host));
  const secure = serving.filter(({ protocol }) => protocol === "HTTPS");
  if (secure.length === 0 || secure.length === serving.length) return [];
  return secure.map(({ name }) => name).sort(compareText);
}
