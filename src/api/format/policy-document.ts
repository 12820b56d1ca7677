import type { Exposure } from "../policy.ts";

/**
 * The version of `policies.json`. A new field raises it as well: a reader that ignored the field
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
  readonly exposure: Exposure;
  readonly authz?: {
    readonly action: string;
    readonly resource: string;
    readonly audience: string;
    readonly mode: string;
  };
  readonly audit?: {
    readonly event: string;
    readonly riskLevel: string;
    readonly resource?: string;
  };
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
  readonly gateway: { readonly publish: boolean; readonly methods: readonly string[] };
}
