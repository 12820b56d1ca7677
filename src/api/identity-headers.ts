/** The headers that carry an identity: the gateway removes them from every request (spec 5.5). */
export const IDENTITY_HEADERS: readonly string[] = [
  "x-svc-auth-verified",
  "x-svc-subject",
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

/** What all of ours start with; removed as a whole, so that a header added later is not forgotten. */
export const IDENTITY_HEADER_PREFIX = "x-svc-";

/** The header that holds the caller's subject behind the login. */
export const SUBJECT_HEADER = "x-svc-external-sub";
