import type { HttpRule } from "./api.ts";
import { formatSegment, type PathTemplate, type PathVariable } from "./path-template.ts";

/**
 * The pattern of a resource name, as in the variable of a path template:
 * `merchants/*` of `/v1/{name=merchants/*}`.
 */
function namePattern(template: PathTemplate, { start, end }: PathVariable): string {
  return template.segments.slice(start, end).map(formatSegment).join("/");
}

/** The patterns that the bindings of an RPC give a field, each once. */
export function namePatternsOf(field: string, http: readonly HttpRule[]): string[] {
  const patterns = new Set<string>();
  for (const { binding } of http) {
    for (const variable of binding?.template.variables ?? []) {
      if (variable.field === field && binding !== undefined) {
        patterns.add(namePattern(binding.template, variable));
      }
    }
  }
  return [...patterns];
}

/** The name after the last dot of a placeholder for a segment. */
export const SEGMENT_NAME = /^[A-Za-z0-9_-]+$/;

/**
 * Finds the segment that a placeholder names: the one after the literal of that
 * name, or, for a number from 1, the wildcard with that number.
 *
 * @returns the index, or an error
 */
export function segmentIndex(
  pattern: string,
  name: string,
): { readonly index: number } | { readonly index?: undefined; readonly error: string } {
  const segments = pattern.split("/");
  const known = segmentNames(pattern);
  const has = known.length === 0 ? "" : `; it has ${known.join(", ")}`;
  if (/^[0-9]+$/.test(name)) {
    const wildcards = [...segments.keys()].filter((index) => segments[index] === "*");
    const index = wildcards[Number(name) - 1];
    return index === undefined ? { error: `${pattern} has no segment ${name}${has}` } : { index };
  }
  const places = [...segments.keys()].filter((index) => segments[index] === name);
  const [place] = places;
  if (place === undefined) return { error: `${pattern} has no segment ${name}${has}` };
  if (places.length > 1) {
    return { error: `${pattern} has ${name} twice; name the segment by its number, such as 1` };
  }
  if (segments[place + 1] === "*") return { index: place + 1 };
  return { error: `in ${pattern}, no segment "*" follows ${name}${has}` };
}

/** The names of the segments of a pattern that a placeholder may use: those of literals first. */
export function segmentNames(pattern: string): string[] {
  const segments = pattern.split("/");
  let wildcards = 0;
  return segments.flatMap((segment, index) => {
    if (segment !== "*") return [];
    wildcards++;
    const before = segments[index - 1] ?? "";
    const isName = SEGMENT_NAME.test(before) && !/^[0-9]+$/.test(before);
    const isUnique = segments.indexOf(before) === segments.lastIndexOf(before);
    return [isName && isUnique ? before : `${wildcards}`];
  });
}

/** Reads a segment of a name; undefined if the name does not match the pattern. */
export type SegmentReader = (name: string) => string | undefined;

/** Makes the reader of the segment at an index of a pattern. */
export function segmentReader(pattern: string, index: number): SegmentReader {
  const segments = pattern.split("/");
  const isOpen = segments.at(-1) === "**";
  const fixed = isOpen ? segments.length - 1 : segments.length;
  return (name) => {
    let found: string | undefined;
    let start = 0;
    // One segment at a time, so that work on a name stops at the first segment that does not match.
    for (let at = 0; at < fixed; at++) {
      if (start > name.length) return undefined;
      const slash = name.indexOf("/", start);
      const end = slash < 0 ? name.length : slash;
      const text = name.slice(start, end);
      if (text === "" || (segments[at] !== "*" && segments[at] !== text)) return undefined;
      if (at === index) found = text;
      start = end + 1;
    }
    return isOpen || start > name.length ? found : undefined;
  };
}

/** Endings of an English plural, and what they replace in the singular. */
const PLURALS: readonly (readonly [ending: RegExp, plural: string])[] = [
  [/$/, ""],
  [/$/, "s"],
  [/$/, "es"],
  [/y$/, "ies"],
  [/fe?$/, "ves"],
  [/is$/, "es"],
  [/(?:ex|ix)$/, "ices"],
  [/um$/, "a"],
  [/on$/, "a"],
  [/us$/, "i"],
  [/man$/, "men"],
  [/person$/, "people"],
  [/child$/, "children"],
];

/**
 * Whether a path segment or field name is the name of a type, in the singular or
 * plural: `skillSpaces`, `skill-spaces` and `skill_space` all name `skill_space`.
 */
export function isCollectionOf(name: string, type: string): boolean {
  const plain = normalized(name);
  const singular = normalized(bareType(type));
  return PLURALS.some(
    ([ending, plural]) => ending.test(singular) && singular.replace(ending, plural) === plain,
  );
}

/** The type without the prefix that a model may give it: `shop/item` is `item`. */
export function bareType(type: string): string {
  return type.slice(type.lastIndexOf("/") + 1);
}

function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}
