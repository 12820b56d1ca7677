import { formatRelationship, MAX_ID_LENGTH, parseRelationship } from "../relationship-text.ts";
import type { Position } from "../schema/model.ts";
import { malformed, textPositions } from "./text-positions.ts";
import type { PlacedRelationship } from "./validation-file.ts";

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

const FORM = "write type:id#relation@type:id or type:id#relation@type:id#relation";

/** Explains why a text is not a relationship, and how to fix it. */
export function whyNoRelationship(text: string): string {
  const at = text.indexOf("@");
  if (at < 0) return `${quote(text)} is not a relationship: it has no @ before a subject; ${FORM}`;
  const resource = text.slice(0, at);
  const subject = text.slice(at + 1).replace(/\[.*$/, "");
  if (!resource.includes("#")) {
    return `${quote(text)} is not a relationship: ${quote(resource)} has no #relation; ${FORM}`;
  }
  const problem = whyNoObject(resource) ?? whyNoObject(subject);
  return `${quote(text)} is not a relationship${problem === undefined ? "" : `: ${problem}`}; ${FORM}`;
}

/** Explains why a text is not an object, a userset or an object's permission, if possible. */
export function whyNoObject(text: string): string | undefined {
  const colon = text.indexOf(":");
  if (colon < 0) return `${quote(text)} has no type before a colon`;
  const type = text.slice(0, colon);
  const hash = text.indexOf("#", colon);
  const id = text.slice(colon + 1, hash < 0 ? undefined : hash);
  const relation = hash < 0 ? undefined : text.slice(hash + 1);
  if (id === "") return `${quote(text)} has no object id`;
  if (id.length > MAX_ID_LENGTH) {
    return `an object id has ${id.length} characters, more than ${MAX_ID_LENGTH}`;
  }
  if (id !== "*" && /[^a-zA-Z0-9/_|\-=+]/.test(id)) {
    return `the object id ${quote(id)} may contain only letters, digits and / _ | - = +`;
  }
  if (!/^[a-z][a-z0-9_/]+[a-z0-9]$/.test(type))
    return `${quote(type)} is not a valid name of a type`;
  if (relation !== undefined && !/^[a-z][a-z0-9_]+[a-z0-9]$/.test(relation)) {
    return `${quote(relation)} is not a valid name of a relation`;
  }
  return undefined;
}

/** A text in quotes, shortened if it is long. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 117)}...` : text);
}
