import type { StreamKind } from "./api.ts";
import type { Exposure, RiskLevel } from "./policy.ts";
import type { ResourcePart, ResourceTemplate } from "./resource.ts";

/** The version of the interface between generated code and the runtime; the runtime rejects any other. */
export const BINDING_FORMAT_VERSION = 1;

/** A route as generated code declares it: an RPC by its name in the service, and its `google.api.http`. */
export interface HttpRouteDeclaration {
  /** The name of the RPC, without that of its service: `SetItem`. */
  readonly rpc: string;
  /** The HTTP method; `*` for any. */
  readonly method: string;
  /** The path template, such as `/v1/notes/items/{item_id}`. */
  readonly path: string;
  /** The request field that is the body; `*` for all fields that the path does not bind; absent for no body. */
  readonly body?: string;
  /** The response field that is the body; absent for the whole response. */
  readonly responseBody?: string;
}

/**
 * The policy of one RPC as generated code declares it: the annotation `svc.access.v1.policy` with
 * its defaults (docs/requirements.md, Annotation).
 *
 * @example
 * ```ts
 * const policy: AccessPolicy = {
 *   exposure: "AUTHORIZED",
 *   authz: {
 *     action: "write",
 *     resource: { type: "item", id: [{ kind: "field", path: "item_id" }] },
 *     audience: "user",
 *     mode: "CHECK_ONLY",
 *   },
 *   audit: { event: "notes.item.set", riskLevel: "LOW" },
 *   rateLimit: { qps: 50, burst: 100 },
 *   publish: true,
 * };
 * ```
 */
export interface AccessPolicy {
  /** Who may call (docs/requirements.md, EXP-1 to EXP-5). */
  readonly exposure: "PUBLIC" | "AUTHENTICATED" | "AUTHORIZED" | "INTERNAL" | "SYSTEM";
  /** What the caller must be allowed to do; present when, and only when, exposure is AUTHORIZED. */
  readonly authz?: {
    /** The permission that is checked. */
    readonly action: string;
    /** The object that it is checked on. */
    readonly resource: AccessResource;
    /** The subject type that callers must have. */
    readonly audience: string;
    /** How the decision is reached: one check before the handler runs. */
    readonly mode: "CHECK_ONLY";
  };
  /** The audit event of a call; absent, calls are not audited. */
  readonly audit?: {
    /** The type of the event: lower-case words joined by dots, such as `skill.publish`. */
    readonly event: string;
    /** How much harm the call can do. */
    readonly riskLevel: RiskLevel;
    /** The object that the call is about, if `authz` does not name it. */
    readonly resource?: AccessResource;
  };
  /** The token bucket of one caller; absent, calls are not limited. */
  readonly rateLimit?: {
    /** Calls a second. */
    readonly qps: number;
    /** The size of the bucket, in calls; at least `qps`. */
    readonly burst: number;
  };
  /** Whether the edge routes to the RPC. */
  readonly publish: boolean;
}

/** The object that is checked: its type and the pieces of its id. */
export type AccessResource = ResourceTemplate;

/** A piece of a resource's id. */
export type AccessResourcePart = ResourcePart;

/** Policies by full method name, such as `hub.skills.v1.SkillService/GetSkill`. */
export type AccessPolicies<Rpc extends string = string> = Readonly<Record<Rpc, AccessPolicy>>;

/**
 * The version of `policies.json`. A new field increments it, too: a reader that ignores the field
 * might allow too much. `schemas/policies.schema.json` and `docs/policies.md` describe the file.
 */
export const POLICY_FORMAT_VERSION = 1;

/** The id of the JSON Schema of `policies.json`. */
export const POLICIES_SCHEMA = `urn:svc-access:schema:policies:${POLICY_FORMAT_VERSION}`;

/** The content of `policies.json`. */
export interface PoliciesDocument {
  readonly $schema: string;
  readonly formatVersion: typeof POLICY_FORMAT_VERSION;
  /** By full method name, in order. */
  readonly policies: Readonly<Record<string, PolicyDocument>>;
}

/** The policy of one RPC as documents carry it: the annotation with its defaults, in protobuf's JSON names. */
export interface PolicyDocument {
  /** Who may call (docs/requirements.md, EXP-1 to EXP-5). */
  readonly exposure: Exposure;
  /** What the caller must be allowed to do; present when, and only when, exposure is AUTHORIZED. */
  readonly authz?: {
    /** The permission that is checked. */
    readonly action: string;
    /** The object that is checked, as the annotation writes it: `skill:{skill_id}`. */
    readonly resource: string;
    /** The subject type that callers must have. */
    readonly audience: string;
    /** How the decision is reached: `CHECK_ONLY`. */
    readonly mode: string;
  };
  /** The audit event of a call; absent, calls are not audited. */
  readonly audit?: {
    /** The type of the event: lower-case words joined by dots. */
    readonly event: string;
    /** `LOW`, `MEDIUM`, `HIGH` or `CRITICAL`. */
    readonly riskLevel: string;
    /** The object that the call is about, where no authorization names it. */
    readonly resource?: string;
  };
  /** The token bucket of one caller; absent, calls are not limited. */
  readonly rateLimit?: {
    /** Calls a second. */
    readonly qps: number;
    /** The size of the bucket, in calls. */
    readonly burst: number;
  };
  /** What the edge gateway does with the RPC. */
  readonly gateway: {
    /** Whether the edge routes to it. */
    readonly publish: boolean;
    /** The HTTP methods that it routes, in upper case and sorted; empty if it routes none. */
    readonly methods: readonly string[];
  };
}

/** The version of the entries; a reader rejects versions that it does not know. */
export const ROUTE_SCHEMA_VERSION = 1;

/** The id of the JSON Schema of a route document. */
export const ROUTES_SCHEMA = `urn:svc-access:schema:routes:${ROUTE_SCHEMA_VERSION}`;

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
  /** The exact path, not a template. */
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
