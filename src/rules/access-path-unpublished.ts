import type { Api, Rpc } from "../api/api.ts";
import type { PathTemplate } from "../api/path-template.ts";
import { processOf, requestMethods } from "../api/published-routes.ts";
import { reachingBindingsOf } from "../api/resolved-policy.ts";
import { type Claim, RouteIndex } from "../api/route-index.ts";
import { atRpc, type Rule, type RuleContext } from "./rule.ts";

/** A path that the edge forwards to a backend. */
interface EdgePath {
  /** Its name in messages. */
  readonly name: string;
  readonly fix: string;
}

export const accessPathUnpublished: Rule = {
  id: "ACCESS_PATH_UNPUBLISHED",
  category: "ACCESS",
  purpose:
    "Checks that no declared path and no pages of a frontend cover an unpublished RPC of the same backend.",
  *check({ api, placeOf }) {
    const indexes = indexPaths(api, placeOf);
    for (const deployed of api.services) {
      const index = indexes.get(processOf(deployed));
      if (index === undefined) continue;
      for (const { rpcs } of deployed.services) {
        for (const rpc of rpcs) {
          if (rpc.policy?.gateway?.publish === true) continue;
          const claim = firstClaim(rpc, index);
          if (claim === undefined) continue;
          const { name, fix } = claim.route.owner;
          yield atRpc(
            rpc,
            `${rpc.name} is not published, but ${name} ${claim.request}, so the edge routes to it; publish it, or ${fix}`,
          );
        }
      }
    }
  },
};

/** The paths that the edge forwards to each process: those of its services, and of pages that it serves. */
function indexPaths(
  { services, hosts }: Api,
  placeOf: RuleContext["placeOf"],
): Map<string, RouteIndex<EdgePath>> {
  const indexes = new Map<string, RouteIndex<EdgePath>>();
  const add = (process: string, method: string, template: PathTemplate, owner: EdgePath) => {
    let index = indexes.get(process);
    if (index === undefined) {
      index = new RouteIndex();
      indexes.set(process, index);
    }
    index.add({ method, template, owner });
  };
  const processes = new Map(services.map((each) => [each.name, processOf(each)]));
  for (const { name, paths } of services) {
    for (const { path, methods, template, position } of paths) {
      const owner = {
        name: `the path ${path} of ${name} (${placeOf(position)}) covers`,
        fix: "declare a narrower path",
      };
      for (const method of methods) add(processes.get(name) ?? name, method, template, owner);
    }
  }
  for (const frontend of hosts.flatMap(({ frontends }) => frontends)) {
    const { name, pagesOf = [], paths, pages } = frontend;
    // A backend may have endpoints of several processes. The paths of a frontend without a backend
    // are forwarded to one of its services.
    const forwardedTo = pages === undefined ? frontend.services : pagesOf;
    const reached = new Set(forwardedTo.map((service) => processes.get(service) ?? service));
    for (const { path, methods, template, position } of paths) {
      const owner = {
        name: `the path ${path} of ${name} (${placeOf(position)}) covers`,
        fix: "declare a narrower path",
      };
      for (const process of reached) {
        for (const method of methods) add(process, method, template, owner);
      }
    }
    if (pages === undefined) continue;
    const owner = {
      name: `the pages of ${name} below ${pages.prefix} (${placeOf(pages.position)}), which its backend serves too, cover`,
      fix: "give the pages their own backend or prefix",
    };
    for (const process of reached) add(process, "*", pages.template, owner);
  }
  return indexes;
}

function firstClaim(rpc: Rpc, index: RouteIndex<EdgePath>): Claim<EdgePath> | undefined {
  for (const { method, template } of reachingBindingsOf(rpc)) {
    for (const each of requestMethods(method)) {
      const claim = index.overlapping({ method: each, template });
      if (claim !== undefined) return claim;
    }
  }
  return undefined;
}
