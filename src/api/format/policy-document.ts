import type { Exposure } from "../policy.ts";

/**
 * The version of `policies.json`. A new field increments it, too: a reader that ignores the field
 * might allow too much. `schemas/policies.schema.json` and `docs/policies.md` describe the file.
 */
export const POLICY_FORMAT_VERSION = 1;

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
