import type { Api, DeployedService, Rpc } from "./api.ts";
import { hostBindingsOf, reachingBindingsOf } from "./resolved-policy.ts";
import { type Claim, RouteIndex } from "./route-index.ts";

/** The owner of an edge route. */
export interface PublishedOwner {
  readonly rpc: Rpc;
  readonly service: string;
  /** Whether it is the HEAD route that the edge derives from a GET route. */
  readonly isHead: boolean;
}

/**
 * The edge routes to published RPCs, by the process that they forward to.
 *
 * The edge knows published routes only. A request for an unpublished `/v1/items/all` takes its route
 * for `/v1/items/{item_id}`, and the service then serves the RPC that matches the request best.
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

  /** A route of another RPC that lets requests for this unpublished RPC pass the edge. */
  covering(rpc: Rpc, deployed: DeployedService): Claim<PublishedOwner> | undefined {
    const index = this.#indexes.get(processOf(deployed));
    if (index === undefined || rpc.policy?.gateway?.publish === true) return undefined;
    // Two routes of one service with the same method and shape are already an error.
    const isOther = (owner: PublishedOwner) => owner.isHead || owner.service !== deployed.name;
    for (const { method, template } of reachingBindingsOf(rpc)) {
      for (const each of requestMethods(method)) {
        const route = { method: each, template };
        // The service prefers a narrower RPC, so only a wider published one lets requests through.
        const claim = index.captured(route) ?? index.equal(route, isOther);
        if (claim !== undefined) return claim;
      }
    }
    return undefined;
  }
}

/** The request methods of a binding: an RPC bound to GET also answers HEAD. */
export function requestMethods(method: string): readonly string[] {
  return method === "GET" ? ["GET", "HEAD"] : [method];
}

/** The process behind the backend of a service: the service, or a name that all services there share. */
export function processOf({ name, process }: DeployedService): string {
  return process ?? name;
}
