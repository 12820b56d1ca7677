import type { DeployedService, Rpc } from "../api/api.ts";
import {
  type PathEntry,
  ROUTE_KEY_PREFIX,
  ROUTE_SCHEMA_VERSION,
  ROUTES_SCHEMA,
  type RouteDocument,
  type RouteEntry,
} from "../api/format.ts";
import { bindingsOf, eachRpc } from "../api/resolved-policy.ts";
import type { EmitInput, EmitResult, OutputFile } from "./output-file.ts";
import { policyDocument } from "./policy-document.ts";

/** Generates a document of registry entries for each deployed service with RPCs. */
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
    $schema: ROUTES_SCHEMA,
    schemaVersion: ROUTE_SCHEMA_VERSION,
    service: deployed.name,
    keyPrefix: ROUTE_KEY_PREFIX,
    routes,
    paths: deployed.paths.map(({ path, match, methods, exposure, audit, rateLimit }) => {
      return {
        path,
        match,
        methods,
        // The schema of the platform configuration allows no other exposure.
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
