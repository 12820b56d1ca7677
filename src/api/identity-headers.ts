/** The headers that carry an identity: the gateway removes them from every request. */
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

/**
 * What all of ours start with, in every spelling that a service might take for it: removed as a
 * whole, so that a header added later is not forgotten. An underscore never gets so far.
 */
export const IDENTITY_HEADER_PREFIXES: readonly string[] = spellings("x-svc-");

/** The spellings with dots of those that do not start so. */
export const IDENTITY_HEADER_VARIANTS: readonly string[] = IDENTITY_HEADERS.filter(
  (name) => !name.startsWith("x-svc-"),
).flatMap((name) => spellings(name).filter((spelling) => spelling !== name));

/** A name with each of its hyphens as it is, or as a dot. */
function spellings(name: string): string[] {
  const [first = "", ...others] = name.split("-");
  return others.reduce(
    (starts, part) => starts.flatMap((start) => [`${start}-${part}`, `${start}.${part}`]),
    [first],
  );
}

/** The header that holds the caller's subject behind the login. */
export const SUBJECT_HEADER = "x-svc-external-sub";
