import type { Api, DeclaredPath, DeployedService, Frontend, HttpBinding, Rpc } from "./api.ts";
import { type Exposure, HTTP_EXTENSION, POLICY_EXTENSION } from "./policy.ts";
import { below, type Position } from "./position.ts";
import { bindingsOf, hostBindingsOf } from "./resolved-policy.ts";
import type { Route } from "./route-index.ts";

/** The owner of a route. */
export interface RouteOwner {
  /** The RPC; absent for a declared path. */
  readonly rpc?: Rpc;
  /** Its name in messages. */
  readonly name: string;
  /** Absent if the annotation sets none. */
  readonly exposure?: Exposure;
  /** Whether it is a declared prefix: the fallback for requests that no other route claims. */
  readonly fallback: boolean;
  readonly position: Position;
}

/** A unique key of an owner's route: the position of its declaration. */
export function routeKey({ position }: RouteOwner): string {
  const place = "line" in position ? [position.line, position.column] : position.path;
  return `${position.file} ${place.join(".")}`;
}

/** Routes among which a request must have one owner: those of one deployed service, or of one host. */
export interface RouteScope {
  /** `the service hub`, `the host hub.example.com`. */
  readonly name: string;
  readonly routes: readonly Route<RouteOwner>[];
}

/** The cached scopes of an `Api`, since several rules read them. */
const made = new WeakMap<Api, readonly RouteScope[]>();

/** The scopes of an `Api`: each deployed service with all bindings, each host with its published bindings. */
export function routeScopes(api: Api): readonly RouteScope[] {
  const known = made.get(api);
  if (known !== undefined) return known;
  const scopes = makeScopes(api);
  made.set(api, scopes);
  return scopes;
}

function makeScopes(api: Api): RouteScope[] {
  const services = new Map(api.services.map((service) => [service.name, service]));
  const scopes = api.services.map((service): RouteScope => {
    return { name: `the service ${service.name}`, routes: [...serviceRoutes(service, bindingsOf)] };
  });
  for (const { name, frontends } of api.hosts) {
    const routes = frontends.flatMap((frontend) => [...frontendRoutes(frontend, services)]);
    scopes.push({ name: `the host ${name}`, routes });
  }
  return scopes;
}

function* frontendRoutes(
  frontend: Frontend,
  services: ReadonlyMap<string, DeployedService>,
): Iterable<Route<RouteOwner>> {
  for (const name of frontend.services) {
    const service = services.get(name);
    if (service === undefined) continue;
    const connect = frontend.connect === true;
    yield* serviceRoutes(service, (rpc) => hostBindingsOf(rpc, service.publishedAs, connect));
  }
  for (const path of frontend.paths) yield* pathRoutes(path);
}

function* serviceRoutes(
  service: DeployedService,
  bindings: (rpc: Rpc) => readonly HttpBinding[],
): Iterable<Route<RouteOwner>> {
  for (const { rpcs } of service.services) {
    for (const rpc of rpcs) {
      for (const binding of bindings(rpc)) {
        yield { method: binding.method, template: binding.template, owner: ownerOf(rpc, binding) };
      }
    }
  }
  for (const path of service.paths) yield* pathRoutes(path);
}

function ownerOf(rpc: Rpc, binding: HttpBinding): RouteOwner {
  const rule = rpc.http.find((candidate) => candidate.binding === binding);
  const exposure = rpc.policy?.exposure;
  return {
    rpc,
    name: rpc.fullName,
    ...(typeof exposure === "string" ? { exposure } : {}),
    fallback: false,
    position:
      rule === undefined
        ? below(rpc.position, METHOD_OPTIONS, POLICY_EXTENSION)
        : below(rpc.position, METHOD_OPTIONS, HTTP_EXTENSION, ...rule.path),
  };
}

/** The number of `google.protobuf.MethodDescriptorProto.options`. */
const METHOD_OPTIONS = 4;

function* pathRoutes(path: DeclaredPath): Iterable<Route<RouteOwner>> {
  const owner: RouteOwner = {
    name: `the path ${path.path} of ${path.service ?? path.frontend}`,
    exposure: path.exposure,
    fallback: path.match === "prefix",
    position: path.position,
  };
  for (const method of path.methods) yield { method, template: path.template, owner };
}
