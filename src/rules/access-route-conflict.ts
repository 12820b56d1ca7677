import { EqualRoutes } from "../api/route-index.ts";
import { type RouteOwner, routeKey, routeScopes } from "../api/route-scopes.ts";
import type { Rule } from "./rule.ts";

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
  },
};

function sameOwner(left: RouteOwner, right: RouteOwner): boolean {
  return left === right || (left.rpc !== undefined && left.rpc === right.rpc);
}
