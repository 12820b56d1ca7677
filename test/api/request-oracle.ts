import { type PathTemplate, parsePathTemplate } from "../../src/api/path-template.ts";

/**
 * Whether a path is a request of a template, only by the specification of
 * `google.api.http`: `*` is one non-empty segment, `**` is zero or more,
 * and a verb is a suffix of the last segment after a colon.
 */
export function matches({ segments, verb }: PathTemplate, path: string): boolean {
  if (verb !== undefined && !path.endsWith(`:${verb}`)) return false;
  const plain = verb === undefined ? path : path.slice(0, -verb.length - 1);
  const texts = plain === "/" ? [] : plain.slice(1).split("/");
  // If the verb is a whole segment, the rest is an empty segment, which nothing matches.
  if (verb !== undefined && plain.endsWith("/")) return false;
  return matchFrom(0, 0);

  function matchFrom(segmentIndex: number, textIndex: number): boolean {
    const segment = segments[segmentIndex];
    const text = texts[textIndex];
    if (segment === undefined) return text === undefined;
    if (segment.kind === "multi") {
      return (
        matchFrom(segmentIndex + 1, textIndex) ||
        (text !== undefined && matchFrom(segmentIndex, textIndex + 1))
      );
    }
    if (text === undefined) return false;
    const fits = segment.kind === "literal" ? segment.text === text : text !== "";
    return fits && matchFrom(segmentIndex + 1, textIndex + 1);
  }
}

const NAMES = ["a", "b", "c"];
const LAST = NAMES.flatMap((name) => ["", ":x", ":y", ":x:y"].map((suffix) => name + suffix));

/**
 * All paths of up to four segments over the literals and verbs of `pathTemplates`
 * and one more: if two templates have a common request, it is one of these.
 */
export const UNIVERSE: readonly string[] = ["/", ...[0, 1, 2, 3].flatMap(pathsBehind)];

function pathsBehind(depth: number): string[] {
  let prefixes = [""];
  for (let level = 0; level < depth; level++) {
    prefixes = prefixes.flatMap((prefix) => NAMES.map((name) => `${prefix}/${name}`));
  }
  return prefixes.flatMap((prefix) => LAST.map((last) => `${prefix}/${last}`));
}

/** The template of a valid text. */
export function templateOf(text: string): PathTemplate {
  const { template, error } = parsePathTemplate(text);
  if (template === undefined) throw new Error(`${text}: ${error}`);
  return template;
}
