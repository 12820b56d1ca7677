/** The headers that carry an identity: the gateway removes them from every request. */
export const IDENTITY_HEADERS: readonly string[] = [
  "x-svc-auth-verified",
  "x-svc-subject",
  "x-svc-subject-type",
  "x-svc-external-sub",
  "x-svc-external-id",
  "x-svc-external-issuer",
  "x-svc-external-email",
  "x-svc-external-name",
  "x-svc-external-display-name",
  "x-svc-external-username",
  "x-svc-external-phone",
  "x-svc-external-owner",
  "x-svc-external-scope",
  "x-svc-principal",
  "x-svc-user-id",
  "x-svc-org-id",
  "x-svc-project-id",
  "x-svc-roles",
  "x-svc-groups",
  "x-svc-scopes",
  "x-svc-authz-decision-id",
  "x-svc-internal-token",
  "x-svc-internal-jwt",
  "x-internal-jwt",
];

/**
 * The prefix of all our headers, in every spelling that a service might accept. The gateway removes
 * all headers with it, so that a header added later is not forgotten. It rejects underscores before.
 */
export const IDENTITY_HEADER_PREFIXES: readonly string[] = spellings("x-svc-");

/** The spellings with dots of the headers without that prefix. */
export const IDENTITY_HEADER_VARIANTS: readonly string[] = IDENTITY_HEADERS.filter(
  (name) => !name.startsWith("x-svc-"),
).flatMap((name) => spellings(name).filter((spelling) => spelling !== name));

/** All spellings of a name in which each hyphen stays or becomes a dot. */
function spellings(name: string): string[] {
  const [first = "", ...others] = name.split("-");
  return others.reduce(
    (starts, part) => starts.flatMap((start) => [`${start}-${part}`, `${start}.${part}`]),
    [first],
  );
}

/** The header that holds the caller's subject at the identity provider. */
export const SUBJECT_HEADER = "x-svc-external-sub";

/** The mapping of a token claim to a header at the gateway and to fields in the service. */
export interface ClaimMapping {
  /** The JWT claim. */
  readonly claim: string;
  /** The trusted header that the gateway sets. */
  readonly header: string;
  /** The fields of the principal that it fills; may be empty. */
  readonly principalFields: readonly string[];
}

/** The mappings that apply in every deployment. */
const DEFAULT_MAPPINGS: readonly ClaimMapping[] = [
  { claim: "sub", header: "x-svc-external-sub", principalFields: ["subject_id"] },
  { claim: "email", header: "x-svc-external-email", principalFields: ["email"] },
  { claim: "name", header: "x-svc-external-name", principalFields: ["name"] },
  {
    claim: "preferred_username",
    header: "x-svc-external-username",
    principalFields: ["username"],
  },
];

/** The additional mappings of the IAM console deployment. */
const CONSOLE_MAPPINGS: readonly ClaimMapping[] = [
  { claim: "iss", header: "x-svc-external-issuer", principalFields: [] },
  { claim: "owner", header: "x-svc-external-owner", principalFields: ["organization_id"] },
  { claim: "scope", header: "x-svc-external-scope", principalFields: ["scopes"] },
  { claim: "id", header: "x-svc-external-id", principalFields: ["subject_id"] },
  { claim: "displayName", header: "x-svc-external-display-name", principalFields: ["name"] },
];

/** The claim mappings (docs/requirements.md, EDGE-8), by the value of `frontends.<name>.claims`. */
export const CLAIM_MAPPINGS: Readonly<Record<"default" | "console", readonly ClaimMapping[]>> = {
  default: DEFAULT_MAPPINGS,
  console: [...DEFAULT_MAPPINGS, ...CONSOLE_MAPPINGS],
};

/** The fields of the principal that the gateway fills with these mappings, and `source`, which it always fills. */
export function principalFieldsOf(mappings: readonly ClaimMapping[]): string[] {
  return ["source", ...new Set(mappings.flatMap(({ principalFields }) => principalFields))].sort();
}

/** The subject types of callers from outside, and the claim and header that name them. */
const CALLER_TYPES = ["user", "service_account"] as const;

/** The subject type of a caller that the gateway or a token identifies. */
export type CallerType = (typeof CALLER_TYPES)[number];

/** The header that holds the subject type of the caller. */
export const SUBJECT_TYPE_HEADER = "x-svc-subject-type";

/** The claim of IAM's own tokens. */
const SUBJECT_TYPE_CLAIM = "subject_type";
/** The end of the issuer of IAM's provider; what is before it is the host. */
const IAM_PATH = "/v1/iam/oidc";

/**
 * The claim of an issuer's tokens that holds the subject type. Users of another provider might be
 * able to set a claim of that name, so there it counts only if it is configured.
 *
 * @param configured `subject_type_claim` of the configuration
 * @returns undefined if all callers are users
 */
export function subjectTypeClaim(
  issuer: string,
  configured: string | undefined,
): string | undefined {
  return configured ?? (isIamIssuer(issuer) ? SUBJECT_TYPE_CLAIM : undefined);
}

/** Whether an issuer is IAM's own provider, whose tokens have a known form. */
export function isIamIssuer(issuer: string): boolean {
  return URL.parse(issuer)?.pathname === IAM_PATH;
}

/** The subject type of a text; undefined if it is not valid. */
export function callerType(value: unknown): CallerType | undefined {
  return CALLER_TYPES.find((type) => type === value);
}
