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
  const text = Buffer.from(String(revision), "base64url").toString();
  const zedToken = text.slice(PREFIX.length);
  // Encoded again, because the decoder skips whatever is not base64url.
  const isOurs = text.startsWith(PREFIX) && revisionOf(zedToken) === revision;
  if (!isOurs || !isZedToken(zedToken)) {
    throw new AuthzError("INVALID_ARGUMENT", "the revision token is malformed");
  }
  return zedToken;
}

/** The fields that a ZedToken may consist of, each with its length in front: of the versions 0 and 1. */
const FIELDS = [0x12, 0x1a];

/**
 * Whether a text is built as ZedTokens are. A fully consistent read does not tell SpiceDB which
 * state it was asked to be as fresh as, so that SpiceDB would not refuse what is none.
 */
export function isZedToken(text: string): boolean {
  const bytes = Buffer.from(text, "base64");
  const [field = 0, low = 0, high = 0] = bytes;
  if (bytes.toString("base64") !== text || !FIELDS.includes(field)) return false;
  const [length, head] = low < 0x80 ? [low, 2] : [(low & 0x7f) | (high << 7), 3];
  return length > 0 && bytes.length === head + length;
}
