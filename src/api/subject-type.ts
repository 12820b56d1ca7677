/** The subject types of callers from outside, and the claim and header that name them. */
const TYPES = ["user", "service_account"] as const;

/** The subject type of a caller that the gateway or a token identifies. */
export type CallerType = (typeof TYPES)[number];

/** The header that holds the subject type of the caller. */
export const SUBJECT_TYPE_HEADER = "x-svc-subject-type";

/** The claim of IAM's own tokens. */
const CLAIM = "subject_type";
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
  return configured ?? (URL.parse(issuer)?.pathname === IAM_PATH ? CLAIM : undefined);
}

/** The subject type of a text; undefined if it is not valid. */
export function callerType(value: unknown): CallerType | undefined {
  return TYPES.find((type) => type === value);
}
