import type { Api, DeployedService, Rpc } from "./api.ts";
import { hostBindingsOf, reachingBindingsOf } from "./resolved-policy.ts";
import { type Claim, RouteIndex } from "./route-index.ts";

/** Who has a route of the edge. */
export interface PublishedOwner {
  readonly rpc: Rpc;
  readonly service: string;
  /** Whether it is the route for HEAD that the edge makes of one for GET. */
  readonly isHead: boolean;
}

/**
 * The routes of the edge to published RPCs, by the process that they forward to.
 *
 * The edge knows what is published only: a request for `/v1/items/all`, which is not, takes its route
 * for `/v1/items/{item_id}`, and the service then serves what fits the request best.
 */
export class PublishedRoutes {
  readonly #indexes = new Map<string, RouteIndex<PublishedOwner>>();

  constructor({ services, hosts }: Pick<Api, "services" | "hosts">) {
    const withConnect = new Set(
      hosts.flatMap(({ frontends }) =>
        frontends.flatMap((each) => (each.connect === true ? each.services : [])),
      ),
    );
    for (const deployed of services) {
      const process = processOf(deployed);
      const connect = withConnect.has(deployed.name);
      for (const rpc of deployed.services.flatMap(({ rpcs }) => rpcs)) {
        for (const { method, template } of hostBindingsOf(rpc, deployed.publishedAs, connect)) {
          for (const each of requestMethods(method)) {
            const isHead = each !== method;
            const owner = { rpc, service: deployed.name, isHead };
            this.#indexOf(process).add({ method: each, template, owner });
          }
        }
      }
    }
  }

  #indexOf(process: string): RouteIndex<PublishedOwner> {
    const known = this.#indexes.get(process);
    if (known !== undefined) return known;
    const index = new RouteIndex<PublishedOwner>();
    this.#indexes.set(process, index);
    return index;
  }

  /** A route of another RPC by which a request for this one passes the edge, though it is not published. */
  covering(rpc: Rpc, deployed: DeployedService): Claim<PublishedOwner> | undefined {
    const index = this.#indexes.get(processOf(deployed));
    if (index === undefined || rpc.policy?.gateway?.publish === true) return undefined;
    // Within one service, two routes of one method and shape are an error already.
    const isOther = (owner: PublishedOwner) => owner.isHead || owner.service !== deployed.name;
    for (const { method, template } of reachingBindingsOf(rpc)) {
      for (const each of requestMethods(method)) {
        const route = { method: each, template };
        // The service prefers a published RPC that is narrower, so only a wider one lets requests through.
        const claim = index.captured(route) ?? index.equal(route, isOther);
        if (claim !== undefined) return claim;
      }
    }
    return undefined;
  }
}

/** The methods of the requests that come by a binding: what is bound to GET answers HEAD too. */
export function requestMethods(method: string): readonly string[] {
  return method === "GET" ? ["GET", "HEAD"] : [method];
}

/** What answers at the backend of a service: the service, or a name that all services there share. */
export function processOf({ name, process }: DeployedService): string {
  return process ?? name;
}
