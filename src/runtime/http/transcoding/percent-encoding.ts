/** C0 and C1 controls: no name has them, and logs, databases and shells trip over them. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Decodes one segment of a path. Escapes that are malformed, that are not UTF-8
 * (overlong forms too), or that stand for control characters have no meaning.
 *
 * @returns undefined where the segment has no meaning
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
 * Decodes segments that a variable binds together. An encoded slash stays as it is,
 * as google.api.http has it: decoded it would look like a border of segments.
 */
export function decodeSegments(segments: string): string | undefined {
  if (!segments.includes("%")) return segments;
  return decodeSegment(segments.replace(/%2f/gi, (slash) => `%25${slash.slice(1)}`));
}

/** Decodes a name or a value of a query; undefined where it has no meaning. */
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
