/** C0 and C1 controls: no name has them, and they cause problems in logs, databases and shells. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Decodes one segment of a path. Escapes that are malformed, not UTF-8 (including overlong forms),
 * or control characters are invalid.
 *
 * @returns undefined if the segment is invalid
 */
export function decodeSegment(segment: string): string | undefined {
  if (!segment.includes("%")) return segment;
  try {
    const text = decodeURIComponent(segment);
    return CONTROL.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/**
 * Decodes the segments of one variable. An encoded slash is not decoded, as in google.api.http:
 * decoded it would look like a segment separator.
 */
export function decodeSegments(segments: string): string | undefined {
  if (!segments.includes("%")) return segments;
  return decodeSegment(segments.replace(/%2f/gi, (slash) => `%25${slash.slice(1)}`));
}

/** Decodes a name or a value of a query; undefined if it is invalid. */
export function decodeQueryText(text: string): string | undefined {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    const decoded = decodeURIComponent(spaced);
    return decoded.includes("\u0000") ? undefined : decoded;
  } catch {
    return undefined;
  }
}
