import { RouteIndex } from "../api/route-index.ts";
import { type RouteOwner, routeKey, routeScopes } from "../api/route-scopes.ts";
import type { Rule } from "./rule.ts";

export const accessRouteShadowed: Rule = {
  id: "ACCESS_ROUTE_SHADOWED",
  category: "ACCESS",
  purpose: "Checks that no PUBLIC route captures a request of a protected one.",
  *check({ api, placeOf }) {
    const reported = new Set<string>();
    for (const scope of routeScopes(api)) {
      const protectedRoutes = new RouteIndex<RouteOwner>();
      for (const route of scope.routes) {
        // A declared prefix is a fallback, so a narrower route does not capture its requests.
        if (route.owner.exposure === "PUBLIC" || route.owner.fallback) continue;
        if (route.owner.exposure !== undefined) protectedRoutes.add(route);
      }
      for (const route of scope.routes) {
        if (route.owner.exposure !== "PUBLIC") continue;
        const claim = protectedRoutes.captured(route);
        if (claim === undefined) continue;
        const { owner } = claim.route;
        const key = `${routeKey(route.owner)} ${routeKey(owner)}`;
        if (reported.has(key)) continue;
        reported.add(key);
        yield {
          message: `${route.owner.name} is PUBLIC and captures ${claim.request}, which ${owner.name} (${owner.exposure}, ${placeOf(owner.position)}) claims too; change one path`,
          position: route.owner.position,
        };
      }
    }
  },
};
