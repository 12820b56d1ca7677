import type { RiskLevel } from "../policy.ts";

/** The policy of one RPC as generated code declares it: the annotation with its defaults. */
export interface AccessPolicy {
  /** Who may call. */
  readonly exposure: "PUBLIC" | "AUTHENTICATED" | "AUTHORIZED" | "INTERNAL" | "SYSTEM";
  /** What the caller must be allowed to do; present when, and only when, exposure is AUTHORIZED. */
  readonly authz?: {
    /** The permission that is checked. */
    readonly action: string;
    readonly resource: AccessResource;
    /** The subject type that callers must have. */
    readonly audience: string;
    readonly mode: "CHECK_ONLY";
  };
  /** The audit event of a call. */
  readonly audit?: {
    readonly event: string;
    readonly riskLevel: RiskLevel;
    /** The object that the call is about, where no authorization names it. */
    readonly resource?: AccessResource;
  };
  /** The token bucket of one caller. */
  readonly rateLimit?: {
    /** Calls a second. */
    readonly qps: number;
    /** The size of the bucket. */
    readonly burst: number;
  };
  /** Whether the edge routes to the RPC. */
  readonly publish: boolean;
}

/** The object that is checked. */
export interface AccessResource {
  readonly type: string;
  /** The pieces of the id; `*` asks for at least one object of the type. */
  readonly id: "*" | readonly AccessResourcePart[];
}

/** A piece of a resource's id. */
export type AccessResourcePart =
  | { readonly kind: "literal"; readonly text: string }
  /** A field of the request, by its path in protobuf names. */
  | { readonly kind: "field"; readonly path: string }
  /** One segment of a request field whose value matches one of the patterns, such as `merchants/*`. */
  | {
      readonly kind: "segment";
      readonly path: string;
      readonly segment: string;
      readonly patterns: readonly string[];
    }
  /** A field of the caller. */
  | { readonly kind: "principal"; readonly field: string };

/** Policies by full method name, such as `hub.skills.v1.SkillService/GetSkill`. */
export type AccessPolicies<Rpc extends string = string> = Readonly<Record<Rpc, AccessPolicy>>;
