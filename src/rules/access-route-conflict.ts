import type { DeployedService, Rpc } from "../api/api.ts";
import type { PathTemplate } from "../api/path-template.ts";
import { mayGet } from "../api/resolved-policy.ts";
import { EqualRoutes } from "../api/route-index.ts";
import { type RouteOwner, routeKey, routeScopes } from "../api/route-scopes.ts";
import { atHttp, type Finding, type Rule, type RuleContext } from "./rule.ts";

/** Every service answers these by itself, also where a route has the same path. */
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);

export const accessRouteConflict: Rule = {
  id: "ACCESS_ROUTE_CONFLICT",
  category: "ACCESS",
  purpose:
    "Checks that no two RPCs or declared paths of a deployed service or host claim the same request.",
  *check({ api, placeOf }) {
    // Two routes that conflict in a service also conflict on its host.
    const reported = new Set<string>();
    for (const scope of routeScopes(api)) {
      const earlier = new EqualRoutes<RouteOwner>();
      for (const route of scope.routes) {
        const claim = earlier.equal(route, (owner) => !sameOwner(owner, route.owner));
        earlier.add(route);
        if (claim === undefined) continue;
        const key = `${routeKey(route.owner)} ${routeKey(claim.route.owner)}`;
        if (reported.has(key)) continue;
        reported.add(key);
        const { owner: other } = claim.route;
        yield {
          message: `${route.owner.name} and ${other.name} (${placeOf(other.position)}) both claim ${claim.request} on ${scope.name}; change one path`,
          position: route.owner.position,
        };
      }
    }
    for (const deployed of api.services) yield* ownPaths(deployed, placeOf);
  },
};

/**
 * Routes at a path that the service answers otherwise: its probes, and the full name of another RPC, where
 * a header of the request would choose between the route and Connect or gRPC-Web.
 */
function* ownPaths(
  { name, services, paths }: DeployedService,
  placeOf: RuleContext["placeOf"],
): Iterable<Finding> {
  const rpcs = new Map<string, Rpc>(
    services.flatMap((service) => service.rpcs.map((rpc) => [`/${rpc.fullName}`, rpc] as const)),
  );
  for (const rpc of rpcs.values()) {
    for (const { path, binding } of rpc.http) {
      if (binding === undefined) continue;
      const found = literalPath(binding.template);
      if (found === undefined) continue;
      if (PROBES.has(found)) {
        yield atHttp(
          rpc,
          `${rpc.fullName} claims ${found}, which every service answers with its health; change the path`,
          ...path,
        );
      }
      const other = rpcs.get(found);
      if (other === undefined || other === rpc || !isAnswered(other, binding.method)) continue;
      yield atHttp(rpc, claimed(rpc.fullName, found, { name, other, placeOf }), ...path);
    }
  }
  for (const { path, template, methods, position } of paths) {
    const other = rpcs.get(literalPath(template) ?? "");
    if (other === undefined || !methods.some((method) => isAnswered(other, method))) continue;
    yield { message: claimed(`the path ${path}`, path, { name, other, placeOf }), position };
  }
}

function claimed(
  claimant: string,
  path: string,
  { name, other, placeOf }: { name: string; other: Rpc; placeOf: RuleContext["placeOf"] },
): string {
  return `${claimant} claims ${path}, where ${name} answers ${other.fullName} (${placeOf(other.position)}) by Connect and gRPC-Web; change the path`;
}

/** Whether a service answers an RPC at its full name by a method, and no route there has been reported. */
function isAnswered(rpc: Rpc, method: string): boolean {
  if (rpc.http.length === 0 && rpc.policy?.gateway?.publish === true) return false;
  const reads = method === "GET" || method === "HEAD";
  return method === "POST" || method === "*" || (reads && mayGet(rpc));
}

/** The only path of a template; undefined if it has variables. */
function literalPath({ segments, verb }: PathTemplate): string | undefined {
  if (verb !== undefined) return undefined;
  let path = "";
  for (const segment of segments) {
    if (segment.kind !== "literal") return undefined;
    path += `/${segment.text}`;
  }
  return path;
}

function sameOwner(left: RouteOwner, right: RouteOwner): boolean {
  return left === right || (left.rpc !== undefined && left.rpc === right.rpc);
}
