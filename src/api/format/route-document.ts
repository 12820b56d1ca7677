import type { StreamKind } from "../api.ts";
import type { RiskLevel } from "../policy.ts";
import type { PolicyDocument } from "./policy-document.ts";

/** The version of the entries; a reader refuses one that it does not know. */
export const ROUTE_SCHEMA_VERSION = 1;

/** The prefix of the registry's keys, before the environment. */
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

/** A path that is served and is not an RPC: health, login, callback, pages. */
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
