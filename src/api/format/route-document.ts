import type { StreamKind } from "../api.ts";
import type { RiskLevel } from "../policy.ts";
import type { PolicyDocument } from "./policy-document.ts";

/** The version of the entries; a reader rejects versions that it does not know. */
export const ROUTE_SCHEMA_VERSION = 1;

/** The prefix of the registry's keys, before the environment. */
export const ROUTE_KEY_PREFIX = "/svc/kernel/routes";

/** One entry of the route registry: an RPC, its routes and its policy. */
export interface RouteEntry extends PolicyDocument {
  /** The version of this form; see `ROUTE_SCHEMA_VERSION`. */
  readonly schemaVersion: typeof ROUTE_SCHEMA_VERSION;
  /** The deployed service. */
  readonly service: string;
  /** The full method name. */
  readonly rpc: string;
  /** Which sides of the RPC send more than one message. */
  readonly stream: StreamKind;
  /** The RPC has the protobuf option `deprecated`. */
  readonly deprecated?: true;
  /** How it is reached over HTTP, in the order of the bindings; empty if it has none. */
  readonly http: readonly HttpRouteEntry[];
}

/** An HTTP method and a path template that lead to an RPC. */
export interface HttpRouteEntry {
  /** The HTTP method, in upper case; `*` for any. */
  readonly method: string;
  /** The path template of `google.api.http`, such as `/v1/skills/{skill_id}`. */
  readonly path: string;
  /** The request field that is the body; `*` for all fields that the path does not bind; absent for no body. */
  readonly body?: string;
  /** The response field that is the body; absent for the whole response. */
  readonly responseBody?: string;
}

/** A path that is served and is not an RPC: health, login, callback, pages. */
export interface PathEntry {
  /** The path, to the letter: no template. */
  readonly path: string;
  /** Whether only the path itself matches, or all paths below it too. */
  readonly match: "exact" | "prefix";
  /** HTTP methods in upper case; `*` for all. */
  readonly methods: readonly string[];
  /** Who may call. */
  readonly exposure: "PUBLIC" | "AUTHENTICATED";
  /** The audit event of a call; absent, calls are not audited. */
  readonly audit?: {
    /** The type of the event: lower-case words joined by dots. */
    readonly event: string;
    /** How much harm the call can do. */
    readonly riskLevel: RiskLevel;
  };
  /** The token bucket of one caller; absent, calls are not limited. */
  readonly rateLimit?: {
    /** Calls a second. */
    readonly qps: number;
    /** The size of the bucket, in calls. */
    readonly burst: number;
  };
}

/** The document of one deployed service: the generated `routes/<service>.json`. */
export interface RouteDocument {
  /** The id of the JSON Schema that the file satisfies: `urn:svc-access:schema:routes:1`. */
  readonly $schema: string;
  /** The version of this form; see `ROUTE_SCHEMA_VERSION`. */
  readonly schemaVersion: typeof ROUTE_SCHEMA_VERSION;
  /** The deployed service. */
  readonly service: string;
  /** The key of each entry starts with this, then the environment. */
  readonly keyPrefix: string;
  /** An entry for each RPC that the service serves. */
  readonly routes: readonly {
    /** The key between environment and instance: `{service}/{package.Service}/{Method}`. */
    readonly key: string;
    /** What is published there. */
    readonly entry: RouteEntry;
  }[];
  /** The other paths that the platform configuration declares for the service, in its order. */
  readonly paths: readonly PathEntry[];
  /** The other origins whose pages may call the service: those of all frontends that use it. Absent if there are none. */
  readonly allowedOrigins?: readonly string[];
}
