import { UNPRINTABLE } from "../../../common/printable.ts";

/** Whether a text has only printable ASCII characters; the space is one. */
export function isPrintableAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Halves of surrogate pairs are not UTF-8 in the first place. */
const REFUSED = new RegExp(`[${UNPRINTABLE}]`);

/**
 * The text of a header that may hold UTF-8. Node gives each byte as one character.
 *
 * @returns undefined if it is not UTF-8, or not printable
 */
export function decodeHeaderText(value: string): string | undefined {
  if (isPrintableAscii(value)) return value;
  for (let index = 0; index < value.length; index++) {
    if (value.charCodeAt(index) > 0xff) return undefined;
  }
  try {
    const text = utf8.decode(Buffer.from(value, "latin1"));
    return REFUSED.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

const MAX_LENGTH = 256;
const FORBIDDEN = /[#*\s]/;

/**
 * Whether a text may be the id of a caller: an object id (docs/requirements.md,
 * AUTHZ-6) in ASCII, as OpenID Connect requires, so that no two ids look the same.
 */
export function isSubjectId(text: string): boolean {
  return (
    text.length > 0 && text.length <= MAX_LENGTH && isPrintableAscii(text) && !FORBIDDEN.test(text)
  );
}
