import type { Account } from "../../../accounts/account.ts";

/** The claims about a subject, which the gateway maps to headers (docs/requirements.md, EDGE-8). */
export type SubjectClaims = Readonly<Record<string, string>>;

/**
 * The most bytes of a claim. The access token is in a cookie at the edge, and browsers drop large
 * ones: with all claims at their limits it stays below 2.5 KB.
 */
const MAX_BYTES = { name: 160, email: 254, username: 128, owner: 64 } as const;

/** The claims about a person. */
export function accountClaims(account: Account): SubjectClaims {
  const name = cut(account.displayName || account.username, MAX_BYTES.name);
  return {
    id: account.id,
    subject_type: account.subjectType,
    email: account.email.length > MAX_BYTES.email ? "" : account.email,
    name,
    displayName: name,
    preferred_username: cut(account.username, MAX_BYTES.username),
    owner: cut(account.organizationId, MAX_BYTES.owner),
  };
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
