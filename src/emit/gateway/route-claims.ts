import type { DeclaredPath, DeployedService, Frontend, Rpc } from "../../api/api.ts";
import type { PathTemplate } from "../../api/path-template.ts";
import { plainTemplate, shapeOf } from "../../api/path-template.ts";
import type { Exposure } from "../../api/policy.ts";
import { hostBindingsOf, resolvePolicy } from "../../api/resolved-policy.ts";
import type { ServiceConfig } from "../../config/config.ts";
import { durationMs, formatDuration } from "../../config/config-values.ts";
import { loginPaths } from "../../config/frontend.ts";
import type { FrontendConfig } from "../../config/frontend-config.ts";
import { compareText } from "../../diagnostics/diagnostic.ts";
import type { Access, OwnerPlan } from "./plan.ts";
import type { BackendTarget, References } from "./plan-references.ts";

/** A method and a template that a frontend's host must route. */
export interface RouteClaim {
  readonly owner: OwnerPlan;
  readonly exposure: Exposure;
  readonly access: Access;
  /** The HTTP method; `*` for any. */
  readonly method: string;
  readonly template: PathTemplate;
  readonly shape: string;
  /** The deployed service that it belongs to; empty for the frontend's own. */
  readonly group: string;
  readonly backend: BackendTarget;
  /** The time limit of the response; `0s` means no limit. */
  readonly timeout: string;
  /** Requests per second, for an RPC with a rate limit. */
  readonly limit?: number;
}

/** The input for the claims of a frontend. */
export interface ClaimSource {
  readonly frontend: Frontend;
  readonly config: FrontendConfig;
  readonly services: ReadonlyMap<
    string,
    { api: DeployedService; config: ServiceConfig | undefined }
  >;
  readonly references: References;
  readonly problems: string[];
}

/** All claims of a frontend, without duplicates, in an order independent of the input's. */
export function routeClaims(source: ClaimSource): RouteClaim[] {
  const { frontend, config } = source;
  const claims = [...frontend.services]
    .sort(compareText)
    .flatMap((name) => [...serviceClaims(name, source)]);
  const pages =
    config.backend === undefined
      ? undefined
      : source.references.target(config.backend, `the frontend ${frontend.name}`, undefined, false);
  // A frontend without pages has its login, which the gateway serves, and paths of its services.
  claims.push(...ownClaims(source, pages ?? claims[0]?.backend, pages !== undefined));
  return unique(withLogin(claims, config), source.problems);
}

function* serviceClaims(name: string, source: ClaimSource): Iterable<RouteClaim> {
  const service = source.services.get(name);
  if (service === undefined) return;
  const { api, config } = service;
  const rpcs = api.services
    .flatMap((protobuf) => protobuf.rpcs)
    .filter((rpc) => rpc.policy?.gateway?.publish === true)
    .sort((left, right) => compareText(left.fullName, right.fullName));
  if (rpcs.length === 0 && api.paths.length === 0) return;
  if (config?.backend === undefined) {
    source.problems.push(`the service ${name} has no backend; the gateway needs one to forward to`);
    return;
  }
  const { backend, ports } = config;
  const grpc = api.publishedAs === "grpc";
  const user = `the service ${name}`;
  if (rpcs.length > 0) {
    const target = source.references.target(backend, user, grpc ? ports.grpc : ports.http, grpc);
    const timeout = formatDuration((durationMs(config.timeout) as number) + MARGIN_MS);
    const connect = source.frontend.connect === true;
    for (const rpc of rpcs) yield* rpcClaims(rpc, api, { target, timeout, connect });
  }
  if (api.paths.length > 0) {
    yield* pathClaims(api.paths, name, pathTarget(source, user, config, grpc));
  }
}

/** Paths such as health use HTTP, even if the RPCs use gRPC. */
function pathTarget(
  { references }: ClaimSource,
  user: string,
  config: ServiceConfig,
  grpc: boolean,
): BackendTarget {
  const backend = config.backend as NonNullable<ServiceConfig["backend"]>;
  if (!grpc || backend.service === undefined || config.ports.http === undefined) {
    return references.target(backend, user, config.ports.http, grpc);
  }
  const { name, namespace } = backend.service;
  return references.target({ service: { name, namespace } }, user, config.ports.http, false);
}

/** The service ends a call that takes too long; the gateway does so only if the service fails to. */
const MARGIN_MS = 1000;
/** No limit: Envoy's default of 15 seconds would cut off streams and downloads of pages. */
const NO_TIMEOUT = formatDuration(0);

function* rpcClaims(
  rpc: Rpc,
  service: DeployedService,
  route: { readonly target: BackendTarget; readonly timeout: string; readonly connect: boolean },
): Iterable<RouteClaim> {
  const { exposure, rateLimit } = resolvePolicy(rpc);
  if (exposure === "INTERNAL" || exposure === "SYSTEM") {
    // The rules reject this; this check makes sure that nothing is emitted.
    throw new Error(`${rpc.fullName} is ${exposure} and cannot be published at the edge`);
  }
  const bindings = hostBindingsOf(rpc, service.publishedAs, route.connect);
  for (const { method, template } of bindings) {
    yield {
      owner: { kind: "rpc", name: rpc.fullName },
      exposure,
      access: exposure === "PUBLIC" ? "open" : "login",
      method,
      template,
      shape: shapeOf(template),
      group: service.name,
      backend: route.target,
      timeout: rpc.stream === "unary" ? route.timeout : NO_TIMEOUT,
      ...limitOf(rateLimit),
    };
  }
}

function* pathClaims(
  paths: readonly DeclaredPath[],
  group: string,
  backend: BackendTarget,
): Iterable<RouteClaim> {
  for (const path of [...paths].sort((left, right) => compareText(left.path, right.path))) {
    for (const method of [...path.methods].sort(compareText)) {
      yield {
        owner: { kind: "path", name: path.path },
        exposure: path.exposure,
        access: path.exposure === "PUBLIC" ? "open" : "login",
        method,
        template: path.template,
        shape: shapeOf(path.template),
        group,
        backend,
        timeout: NO_TIMEOUT,
        ...limitOf(path.rateLimit),
      };
    }
  }
}

/** The coarse limit of the edge, in requests per second; the service enforces the exact limit. */
function limitOf(rateLimit: DeclaredPath["rateLimit"]): Pick<RouteClaim, "limit"> {
  return rateLimit === undefined ? {} : { limit: Math.max(rateLimit.qps, rateLimit.burst) };
}

function* ownClaims(
  { frontend, config, problems }: ClaimSource,
  backend: BackendTarget | undefined,
  pages: boolean,
): Iterable<RouteClaim> {
  if (backend === undefined) {
    if (frontend.paths.length > 0) {
      problems.push(
        `the frontend ${frontend.name} has paths but no backend to forward to; add its backend`,
      );
    }
    return;
  }
  yield* pathClaims(frontend.paths, "", backend);
  const implied = (kind: "pages" | "login", name: string, template: PathTemplate): RouteClaim => {
    return {
      owner: { kind, name },
      exposure: "AUTHENTICATED",
      access: "login",
      method: "*",
      template,
      shape: shapeOf(template),
      group: "",
      backend,
      timeout: NO_TIMEOUT,
    };
  };
  // The gateway serves these two paths, but only on a route that its policy covers.
  for (const path of loginPaths(config)) yield implied("login", path, plainTemplate(path, false));
  if (pages) yield implied("pages", config.prefix, plainTemplate(config.prefix, true));
}

/** A callback on a route without the login could never complete the login. */
function withLogin(claims: readonly RouteClaim[], config: FrontendConfig): RouteClaim[] {
  const shapes = new Set(loginPaths(config).map((path) => shapeOf(plainTemplate(path, false))));
  return claims.map((claim) => (shapes.has(claim.shape) ? { ...claim, access: "login" } : claim));
}

/** One claim per method and shape: the first, as implied claims come last. */
function unique(claims: readonly RouteClaim[], problems: string[]): RouteClaim[] {
  const seen = new Map<string, RouteClaim>();
  for (const claim of claims) {
    const key = `${claim.method} ${claim.shape}`;
    const first = seen.get(key);
    if (first === undefined) {
      seen.set(key, claim);
    } else if (isDeclared(claim) && first.owner.name !== claim.owner.name) {
      problems.push(
        `${first.owner.name} and ${claim.owner.name} both claim ${key}; change one path`,
      );
    }
  }
  return [...seen.values()];
}

function isDeclared({ owner }: RouteClaim): boolean {
  return owner.kind === "rpc" || owner.kind === "path";
}
