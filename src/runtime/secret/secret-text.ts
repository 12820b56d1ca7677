/** What a secret must be to be used. */
export interface SecretRules {
  /** The fewest characters. */
  readonly minLength: number;
  /** Whether a header carries it: printable ASCII without spaces. Otherwise any text without control characters. */
  readonly inHeader: boolean;
}

/** The most characters of a secret. */
export const MAX_SECRET = 4096;
/** The most bytes that are read of a file: of a longer one it is enough to know that it is too long. */
export const MAX_SECRET_BYTES = 4 * MAX_SECRET + 3;

/** A secret, or what is wrong with what was read; the problem never holds any of it. */
export type SecretReading =
  | { readonly text: string; readonly problem?: undefined }
  | { readonly text?: undefined; readonly problem: string };

/** The secret that a file of these bytes holds. One line end after it does not count. */
export function readSecretText(
  bytes: Uint8Array,
  { minLength, inHeader }: SecretRules,
): SecretReading {
  if (bytes.length > MAX_SECRET_BYTES) return tooLong();
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { problem: "is not UTF-8 text; write the secret alone into it" };
  }
  text = text.replace(/\r?\n$/, "");
  if (text === "") return { problem: "is empty; write the secret into it" };
  if (text.length > MAX_SECRET) return tooLong();
  if (inHeader && !/^[\x21-\x7e]+$/.test(text)) {
    return {
      problem:
        "has characters that a header does not carry; write one secret of printable ASCII without spaces, with at most one line end after it",
    };
  }
  if (/[\p{Cc}\p{Zl}\p{Zp}\ufeff]/u.test(text)) {
    return {
      problem:
        "has control characters or several lines; write one secret, with at most one line end after it",
    };
  }
  if (text.length < minLength) {
    return { problem: `has ${text.length} characters; a secret needs at least ${minLength}` };
  }
  return { text };
}

function tooLong(): SecretReading {
  return { problem: `is too long; a secret has at most ${MAX_SECRET} characters` };
}
