import type { RiskLevel } from "../policy.ts";
import type { ResourcePart, ResourceTemplate } from "../resource.ts";

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
