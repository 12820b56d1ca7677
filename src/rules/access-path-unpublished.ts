import type { Api, DeclaredPath, DeployedService, Rpc } from "../api/api.ts";
import { reachingBindingsOf } from "../api/resolved-policy.ts";
import { type Claim, RouteIndex } from "../api/route-index.ts";
import { atRpc, type Rule } from "./rule.ts";

export const accessPathUnpublished: Rule = {
  id: "ACCESS_PATH_UNPUBLISHED",
  category: "ACCESS",
  purpose:
    "Checks that no declared path of a service covers one of its RPCs that is not published.",
  *check({ api }) {
    for (const deployed of api.services) {
      const paths = pathsTo(deployed, api);
      if (paths.length === 0) continue;
      const index = new RouteIndex<DeclaredPath>();
      for (const path of paths) {
        for (const method of path.methods) {
          index.add({ method, template: path.template, owner: path });
        }
      }
      for (const { rpcs } of deployed.services) {
        for (const rpc of rpcs) {
          if (rpc.policy?.gateway?.publish === true) continue;
          const claim = firstClaim(rpc, index);
          if (claim === undefined) continue;
          const { owner } = claim.route;
          const whose = owner.frontend ?? deployed.name;
          yield atRpc(
            rpc,
            `${rpc.name} is not published, but the path ${owner.path} of ${whose} in ${owner.position.file} covers ${claim.request}, so the edge routes to it; publish it, or declare a narrower path`,
          );
        }
      }
    }
  },
};

/** The declared paths by which the edge forwards to a service: its own, and those of pages that it serves itself. */
function pathsTo({ name, paths }: DeployedService, { hosts }: Api): DeclaredPath[] {
  const pages = hosts.flatMap(({ frontends }) =>
    frontends.flatMap((frontend) =>
      frontend.pagesOf?.includes(name) === true ? frontend.paths : [],
    ),
  );
  return [...paths, ...pages];
}

function firstClaim(rpc: Rpc, index: RouteIndex<DeclaredPath>): Claim<DeclaredPath> | undefined {
  for (const { method, template } of reachingBindingsOf(rpc)) {
    // What is bound to GET answers HEAD too.
    for (const each of method === "GET" ? ["GET", "HEAD"] : [method]) {
      const claim = index.overlapping({ method: each, template });
      if (claim !== undefined) return claim;
    }
  }
  return undefined;
}
