/** The exposure levels, from open to closed; the index is the enum number. */
export const EXPOSURES = ["PUBLIC", "AUTHENTICATED", "AUTHORIZED", "INTERNAL", "SYSTEM"] as const;

/** Who may call an RPC. */
export type Exposure = (typeof EXPOSURES)[number];

/** The risk levels of an audit event; the index is the enum number. */
export const RISK_LEVELS = ["LOW", "MEDIUM", "HIGH", "CRITICAL"] as const;

/** How much harm an audited call can do. */
export type RiskLevel = (typeof RISK_LEVELS)[number];

/** The modes of an authorization check; the index is the enum number. */
export const AUTHZ_MODES = ["CHECK_ONLY"] as const;

/** How an authorization decision is made. */
export type AuthzMode = (typeof AUTHZ_MODES)[number];

/** An enum number that this version does not know, from an annotation of a later version. */
export interface UnknownEnumValue {
  readonly unknown: number;
}

/** The annotation as written: absent fields stay absent. */
export interface DeclaredPolicy {
  readonly exposure?: Exposure | UnknownEnumValue;
  readonly authz?: DeclaredAuthz;
  readonly audit?: DeclaredAudit;
  readonly rateLimit?: DeclaredRateLimit;
  readonly gateway?: DeclaredGateway;
}

/** The `authz` block as written. */
export interface DeclaredAuthz {
  readonly action?: string;
  readonly resource?: string;
  readonly audience?: string;
  readonly mode?: AuthzMode | UnknownEnumValue;
}

/** The `audit` block as written. */
export interface DeclaredAudit {
  readonly event?: string;
  readonly riskLevel?: RiskLevel | UnknownEnumValue;
  readonly risk?: RiskLevel | UnknownEnumValue;
  readonly resource?: string;
}

/** The `rate_limit` block as written. */
export interface DeclaredRateLimit {
  readonly qps?: number;
  readonly burst?: number;
}

/** The `gateway` block as written. */
export interface DeclaredGateway {
  readonly publish?: boolean;
  readonly methods: readonly string[];
}

/** The subject type that callers must have where `authz.audience` is absent. */
export const DEFAULT_AUDIENCE = "user";

/** The field numbers of `svc.access.v1`, as descriptor paths name them. */
export const POLICY_FIELD = {
  exposure: 1,
  authz: 2,
  audit: 3,
  rateLimit: 4,
  gateway: 5,
} as const;
export const AUTHZ_FIELD = { action: 1, resource: 2, audience: 3, mode: 4 } as const;
export const AUDIT_FIELD = { event: 1, riskLevel: 2, risk: 3, resource: 4 } as const;
export const RATE_LIMIT_FIELD = { qps: 1, burst: 2 } as const;
export const GATEWAY_FIELD = { publish: 1, methods: 2 } as const;

/** The number of the extension `svc.access.v1.policy` of `google.protobuf.MethodOptions`. */
export const POLICY_EXTENSION = 50810;

/** The number of the extension `google.api.http` of `google.protobuf.MethodOptions`. */
export const HTTP_EXTENSION = 72295728;

/** The name of an audit event: lower-case words joined by dots, such as `skill.publish`. */
export const AUDIT_EVENT_NAME = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/;

/** The maximum length of a name that is not declared in a proto. */
export const MAX_AUDIT_EVENT_NAME = 128;
