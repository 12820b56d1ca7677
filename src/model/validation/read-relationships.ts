import { formatRelationship, parseRelationship } from "../relationship-text.ts";
import type { Position } from "../schema/model.ts";
import { malformed, textPositions } from "./text-positions.ts";
import type { PlacedRelationship } from "./validation-file.ts";
import { quote, whyNoRelationship } from "./why-no-relationship.ts";

/**
 * Reads relationships, one per line; it ignores empty lines and lines that begin with `//`.
 *
 * @param placeOf - maps an offset in the text to a position in the file
 * @throws MalformedFileError if a line is not a relationship or is a duplicate, as in `zed`
 */
export function readRelationships(
  text: string,
  file: string,
  placeOf: (offset: number) => Position = textPositions(text),
): PlacedRelationship[] {
  const found: PlacedRelationship[] = [];
  const seen = new Map<string, Position>();
  let offset = 0;
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    if (line !== "" && !line.startsWith("//")) {
      const position = placeOf(offset + raw.indexOf(line));
      const parsed = parseRelationship(line);
      if (parsed === undefined) throw malformed(file, position, whyNoRelationship(line));
      const key = formatRelationship(parsed.relationship);
      const before = seen.get(key);
      if (before !== undefined) {
        const message = `${quote(line)} is already on line ${before.line}; remove one of them`;
        throw malformed(file, position, message);
      }
      seen.set(key, position);
      found.push({ ...parsed, text: line, position });
    }
    offset += raw.length + 1;
  }
  return found;
}
