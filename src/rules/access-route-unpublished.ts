import { PublishedRoutes } from "../api/published-routes.ts";
import { eachRpc } from "../api/resolved-policy.ts";
import { atRpc, type Rule } from "./rule.ts";

/** The edge strips the token that these want, so they stay closed. */
const CLOSED: ReadonlySet<unknown> = new Set(["INTERNAL", "SYSTEM"]);

export const accessRouteUnpublished: Rule = {
  id: "ACCESS_ROUTE_UNPUBLISHED",
  category: "ACCESS_RECOMMENDED",
  purpose:
    "Checks that no route of a published RPC lets requests through to one of the same backend that is not published.",
  *check({ api }) {
    const published = new PublishedRoutes(api);
    for (const { rpc, deployed } of eachRpc(api.services)) {
      if (CLOSED.has(rpc.policy?.exposure)) continue;
      const claim = published.covering(rpc, deployed);
      if (claim === undefined) continue;
      yield atRpc(
        rpc,
        `${rpc.name} is not published, but the route of ${claim.route.owner.rpc.fullName} covers ${claim.request}, so the edge forwards it; publish it, make it INTERNAL, or give one of the two another path`,
      );
    }
  },
};
