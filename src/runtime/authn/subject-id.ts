import { isPrintableAscii } from "./header-text.ts";

const MAX_LENGTH = 256;
const FORBIDDEN = /[#*\s]/;

/**
 * Whether a text may be the id of a caller: an object id (design.md, "The
 * annotation") in ASCII, as OpenID Connect has it, so that no two ids look alike.
 */
export function isSubjectId(text: string): boolean {
  return (
    text.length > 0 && text.length <= MAX_LENGTH && isPrintableAscii(text) && !FORBIDDEN.test(text)
  );
}
