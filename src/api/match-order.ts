import type { PathTemplate, Segment } from "./path-template.ts";

/**
 * The one match order: segment by segment a literal before `*` before `**`,
 * then a verb before no verb. Lint, runtime, gateway and tests all use it.
 */
export function compareTemplates(left: PathTemplate, right: PathTemplate): number {
  const length = Math.max(left.segments.length, right.segments.length);
  for (let index = 0; index < length; index++) {
    const difference = rankOf(left.segments[index]) - rankOf(right.segments[index]);
    if (difference !== 0) return difference;
  }
  return Number(left.verb === undefined) - Number(right.verb === undefined);
}

/** The end of a template is as narrow as a literal: of the wildcards, only `**` matches it. */
function rankOf(segment: Segment | undefined): number {
  switch (segment?.kind) {
    case undefined:
    case "literal":
      return 0;
    case "single":
      return 1;
    case "multi":
      return 2;
  }
}

/**
 * A path that both templates match, or undefined if there is none.
 *
 * The verb is a suffix of the last segment, so a template without a verb also
 * matches a path with one, where its last segment is a wildcard.
 */
export function commonPath(left: PathTemplate, right: PathTemplate): string | undefined {
  const verb = left.verb ?? right.verb;
  if (left.verb !== undefined && right.verb !== undefined && left.verb !== right.verb) {
    return undefined;
  }
  const length = commonLength(left, right);
  if (length === undefined) return undefined;
  // A verb is the end of a segment, so the root path has none.
  if (length === 0 && verb !== undefined) return undefined;
  const path: string[] = [];
  for (let index = 0; index < length; index++) {
    const last = index === length - 1;
    const a = textAt(left, index, last ? verb : undefined);
    const b = textAt(right, index, last ? verb : undefined);
    if (a === MISMATCH || b === MISMATCH) return undefined;
    if (a !== ANY && b !== ANY && a !== b) return undefined;
    path.push(a !== ANY ? a : b !== ANY ? b : "x");
  }
  return `/${path.join("/")}${verb === undefined ? "" : `:${verb}`}`;
}

/** The number of segments of a path that both match. */
function commonLength(left: PathTemplate, right: PathTemplate): number | undefined {
  const leftOpen = left.segments.at(-1)?.kind === "multi";
  const rightOpen = right.segments.at(-1)?.kind === "multi";
  const leftLength = left.segments.length;
  const rightLength = right.segments.length;
  if (leftOpen && rightOpen) return Math.max(leftLength, rightLength);
  if (leftOpen) return rightLength >= leftLength - 1 ? rightLength : undefined;
  if (rightOpen) return leftLength >= rightLength - 1 ? leftLength : undefined;
  return leftLength === rightLength ? leftLength : undefined;
}

const ANY = Symbol("any text");
const MISMATCH = Symbol("no text");

/**
 * What a template requires at a segment of a path, without the verb that ends the
 * path. A literal never contains a colon, so it never contains a verb.
 */
function textAt(
  template: PathTemplate,
  index: number,
  verb: string | undefined,
): string | typeof ANY | typeof MISMATCH {
  const segment = template.segments[index];
  if (segment?.kind !== "literal") return ANY;
  if (verb === undefined || template.verb !== undefined) return segment.text;
  return MISMATCH;
}

/** Whether a request of one method may be a request of the other; `*` is any method. */
export function methodsOverlap(left: string, right: string): boolean {
  return left === right || left === "*" || right === "*";
}
