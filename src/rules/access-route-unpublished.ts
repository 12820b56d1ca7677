import { PublishedRoutes } from "../api/published-routes.ts";
import { eachRpc } from "../api/resolved-policy.ts";
import { atRpc, type Rule } from "./rule.ts";

/** The edge removes the token that these require, so they stay closed. */
const CLOSED: ReadonlySet<unknown> = new Set(["INTERNAL", "SYSTEM"]);

export const accessRouteUnpublished: Rule = {
  id: "ACCESS_ROUTE_UNPUBLISHED",
  category: "ACCESS_RECOMMENDED",
  purpose:
    "Checks that no route of a published RPC lets requests through to an unpublished RPC of the same backend.",
  *check({ api, placeOf }) {
    const published = new PublishedRoutes(api);
    for (const { rpc, deployed } of eachRpc(api.services)) {
      if (CLOSED.has(rpc.policy?.exposure)) continue;
      const claim = published.covering(rpc, deployed);
      if (claim === undefined) continue;
      yield atRpc(
        rpc,
        `${rpc.name} is not published, but the route of ${claim.route.owner.rpc.fullName} (${placeOf(claim.route.owner.rpc.position)}) covers ${claim.request}, so the edge forwards it; publish it, make it INTERNAL, or change one of the two paths`,
      );
    }
  },
};
