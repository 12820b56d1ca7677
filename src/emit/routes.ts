import type { DeployedService, Rpc, StreamKind } from "../api/api.ts";
import type { RiskLevel } from "../api/policy.ts";
import { bindingsOf, eachRpc } from "../api/resolved-policy.ts";
import type { EmitInput, EmitResult, OutputFile } from "./output-file.ts";
import { type PolicyDocument, policyDocument } from "./policy-document.ts";

/** The version of the entries; a reader refuses one that it does not know. */
export const ROUTE_SCHEMA_VERSION = 1;

/** The prefix of the registry's keys, before the environment (spec 6). */
export const ROUTE_KEY_PREFIX = "/svc/kernel/routes";

/** One entry of the route registry: an RPC and how it is reached and guarded. */
export interface RouteEntry extends PolicyDocument {
  readonly schemaVersion: typeof ROUTE_SCHEMA_VERSION;
  /** The deployed service. */
  readonly service: string;
  /** The full method name. */
  readonly rpc: string;
  readonly stream: StreamKind;
  readonly deprecated?: true;
  readonly http: readonly HttpRouteEntry[];
}

/** An HTTP method and a path template that lead to an RPC. */
export interface HttpRouteEntry {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly responseBody?: string;
}

/** A path that is served and is no RPC: health, login, callback, pages. */
export interface PathEntry {
  readonly path: string;
  /** Whether it stands for itself or for all below it too. */
  readonly match: "exact" | "prefix";
  /** HTTP methods in upper case; `*` for all. */
  readonly methods: readonly string[];
  readonly exposure: "PUBLIC" | "AUTHENTICATED";
  readonly audit?: { readonly event: string; readonly riskLevel: RiskLevel };
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
}

/** The document of one deployed service. */
export interface RouteDocument {
  readonly $schema: string;
  readonly schemaVersion: typeof ROUTE_SCHEMA_VERSION;
  readonly service: string;
  /** The key of each entry starts with this, then the environment. */
  readonly keyPrefix: string;
  readonly routes: readonly { readonly key: string; readonly entry: RouteEntry }[];
  /** What the platform configuration declares for the service beside its RPCs, in its order. */
  readonly paths: readonly PathEntry[];
  /** The other origins whose pages may call the service: those of all frontends that use it. Absent, none. */
  readonly allowedOrigins?: readonly string[];
}

/** Makes one document of registry entries for each deployed service that has RPCs. */
export function emitRoutes({ api }: EmitInput): EmitResult {
  const files = api.services
    .filter(({ services }) => services.length > 0)
    .map((deployed): OutputFile => {
      return {
        name: `routes/${deployed.name || "default"}.json`,
        content: `${JSON.stringify(routeDocument(deployed), undefined, 2)}\n`,
      };
    });
  return { files, notes: [] };
}

/** The document of a deployed service. */
export function routeDocument(deployed: DeployedService): RouteDocument {
  const routes = [...eachRpc([deployed])].map(({ rpc }) => {
    return { key: `${deployed.name}/${rpc.fullName}`, entry: routeEntry(rpc, deployed.name) };
  });
  return {
    $schema: "urn:svc-access:schema:routes:1",
    schemaVersion: ROUTE_SCHEMA_VERSION,
    service: deployed.name,
    keyPrefix: ROUTE_KEY_PREFIX,
    routes,
    paths: deployed.paths.map(({ path, match, methods, exposure, audit, rateLimit }) => {
      return {
        path,
        match,
        methods,
        // The schema of the platform configuration takes no other exposure.
        exposure: exposure as PathEntry["exposure"],
        ...(audit === undefined ? {} : { audit }),
        ...(rateLimit === undefined ? {} : { rateLimit }),
      };
    }),
    ...(deployed.allowedOrigins === undefined ? {} : { allowedOrigins: deployed.allowedOrigins }),
  };
}

function routeEntry(rpc: Rpc, service: string): RouteEntry {
  return {
    schemaVersion: ROUTE_SCHEMA_VERSION,
    service,
    rpc: rpc.fullName,
    stream: rpc.stream,
    ...(rpc.deprecated ? { deprecated: true as const } : {}),
    ...policyDocument(rpc),
    http: bindingsOf(rpc).map(({ method, path, body, responseBody }) => {
      return {
        method,
        path,
        ...(body === undefined ? {} : { body }),
        ...(responseBody === undefined ? {} : { responseBody }),
      };
    }),
  };
}
