import type { Account } from "../../../people/accounts/account.ts";

/** The claims about a subject, which the gateway maps to headers (docs/requirements.md, EDGE-8). */
export type SubjectClaims = Readonly<Record<string, string>>;

/**
 * The most bytes of a claim. The access token is in a cookie at the edge, and browsers drop large
 * ones: with all claims at their limits it stays below 2.5 KB.
 */
const MAX_BYTES = { name: 160, email: 254, username: 128, owner: 64 } as const;

/** The claims about a person, without those that have no value: an empty one would seem to be one. */
export function accountClaims(account: Account): SubjectClaims {
  const name = cut(account.displayName || account.username, MAX_BYTES.name);
  const claims = {
    id: account.id,
    subject_type: account.subjectType,
    email: account.email.length > MAX_BYTES.email ? "" : account.email,
    name,
    displayName: name,
    preferred_username: cut(account.username, MAX_BYTES.username),
    owner: cut(account.organizationId, MAX_BYTES.owner),
  };
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== ""));
}

/** The scopes that claims of access tokens need; the others say whose token it is, and are always there. */
const SCOPE_OF: Readonly<Record<string, string>> = {
  email: "email",
  name: "profile",
  displayName: "profile",
  preferred_username: "profile",
};

/** The claims about a person that a client may read with the scopes that were granted. */
export function grantedClaims(account: Account, scopes: ReadonlySet<string>): SubjectClaims {
  const claims = Object.entries(accountClaims(account));
  return Object.fromEntries(
    claims.filter(([name]) => SCOPE_OF[name] === undefined || scopes.has(SCOPE_OF[name])),
  );
}

/** The claims about a service account. */
export function serviceAccountClaims(
  client: { readonly id: string; readonly name: string },
  organization: string,
): SubjectClaims {
  return accountClaims({
    id: client.id,
    subjectType: "service_account",
    username: client.name,
    displayName: client.name,
    email: "",
    organizationId: organization,
    disabled: false,
  });
}

/** The start of a text, without half a character at its end. */
function cut(text: string, bytes: number): string {
  const encoded = Buffer.from(text);
  if (encoded.length <= bytes) return text;
  return new TextDecoder().decode(encoded.subarray(0, bytes)).replace(/\ufffd$/u, "");
}
