import { AuthzError } from "../authz-error.ts";
import type { Revision } from "../engine.ts";

const PREFIX = "1:spicedb:";

/** A revision token of ours around a ZedToken: it says of which version and engine it is. */
export function revisionOf(zedToken: string): Revision {
  return Buffer.from(PREFIX + zedToken).toString("base64url");
}

/**
 * The ZedToken in a revision token.
 *
 * @throws AuthzError INVALID_ARGUMENT where it is malformed or of another engine
 */
export function zedTokenOf(revision: Revision): string {
  const text = Buffer.from(revision, "base64url").toString();
  // Re-encoded, because the decoder skips whatever is not base64url.
  if (
    !text.startsWith(PREFIX) ||
    text === PREFIX ||
    revisionOf(text.slice(PREFIX.length)) !== revision
  ) {
    throw new AuthzError("INVALID_ARGUMENT", "the revision token is not one of this engine");
  }
  return text.slice(PREFIX.length);
}
