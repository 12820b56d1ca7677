import { cleanLine } from "../redaction/clean-text.ts";

/** Printable ASCII that JSON takes as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text as JSON, on one line and without what a viewer would act on. */
export function quoted(text: string, maxLength: number): string {
  return text.length <= maxLength && PLAIN.test(text)
    ? `"${text}"`
    : JSON.stringify(cleanLine(text, maxLength));
}

/** Longer texts hardly repeat. */
const MAX_REMEMBERED_LENGTH = 256;

/** Remembers what is worked out of texts that repeat, such as user agents, up to a number of them. */
export function remembered(
  work: (text: string) => string,
  maxTexts: number,
): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    if (text.length > MAX_REMEMBERED_LENGTH) return work(text);
    const before = known.get(text);
    if (before !== undefined) return before;
    const result = work(text);
    // Who sends a new one with each request gains nothing but the work.
    if (known.size >= maxTexts) known.clear();
    known.set(text, result);
    return result;
  };
}
