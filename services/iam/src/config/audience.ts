/** Those of the provider itself. */
const OWN_AUDIENCES = "urn:svc-access:";
const LONGEST = 256;

/** The most services that the tokens of a service account can be for. */
export const MAX_AUDIENCES = 32;

/** What an audience must be. */
export const AUDIENCE_RULE =
  "must be an absolute URI without fragment, such as urn:acme:notes or https://notes.example.com";

/** Whether a text names a service that tokens are for (RFC 8707): it is compared exactly. */
export function isAudience(value: string): boolean {
  if (value.length > LONGEST) return false;
  // White space and others would be escaped or removed from a URL, and not from the claim.
  const isPlain = /^[a-z][a-z0-9+.-]*:[\x21\x23-\x7e]+$/.test(value) && !value.includes("#");
  return isPlain && URL.canParse(value) && !value.startsWith(OWN_AUDIENCES);
}
