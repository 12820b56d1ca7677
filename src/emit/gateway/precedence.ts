import { compareTemplates, methodsOverlap } from "../../api/match-order.ts";
import type { PathTemplate } from "../../api/path-template.ts";
import { compareText } from "../../diagnostics/diagnostic.ts";
import { naturalMatch, regexMatch } from "./path-matcher.ts";
import type { PathMatch, RouteMatch } from "./plan.ts";
import { RegexIndex } from "./regex-index.ts";

/** All routes of a host with the same template, except for variable names. */
export interface PathUnit {
  readonly shape: string;
  readonly template: PathTemplate;
  /** The methods that are routed there; `*` for any. */
  readonly methods: ReadonlySet<string>;
}

/**
 * Assigns a match to each unit, so that Envoy Gateway follows our match order.
 *
 * Envoy prefers exact matches to regular expressions, these to prefixes, and of
 * the same kind the longer text. Exact matches also come first in our order, but
 * it may put a shorter regular expression before a longer one, or a prefix before
 * a regular expression. So units are processed from the widest to the narrowest,
 * and each unit that claims a request of a wider one is padded to a longer text;
 * a prefix that must win becomes a regular expression.
 *
 * @returns the matches by shape
 */
export function assignMatches(units: readonly PathUnit[]): Map<string, PathMatch> {
  const widestFirst = [...units].sort(
    (left, right) =>
      compareTemplates(right.template, left.template) || compareText(left.shape, right.shape),
  );
  const matches = new Map<string, PathMatch>();
  const index = new RegexIndex<PathUnit>((left, right) =>
    methodSetsOverlap(left.methods, right.methods),
  );
  for (const unit of widestFirst) {
    let match = naturalMatch(unit.template);
    if (match.type !== "Exact") {
      const wider = index.longestOverlap(
        unit,
        match.type === "PathPrefix" ? 0 : match.value.length - 1,
      );
      if (wider >= match.value.length || (match.type === "PathPrefix" && wider > 0)) {
        match = regexMatch(unit.template, wider + 1);
      }
      if (match.type === "RegularExpression") index.add(unit, match.value.length);
    }
    matches.set(unit.shape, match);
  }
  return matches;
}

function methodSetsOverlap(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  for (const method of left) {
    for (const other of right) if (methodsOverlap(method, other)) return true;
  }
  return false;
}

const KIND: Readonly<Record<PathMatch["type"], number>> = {
  Exact: 0,
  RegularExpression: 1,
  PathPrefix: 2,
};

/**
 * The order of Envoy Gateway for the matches of one host: by kind, then the longer
 * text, then the larger number of header conditions; a method is such a condition.
 */
export function compareMatches(left: RouteMatch, right: RouteMatch): number {
  return (
    KIND[left.path.type] - KIND[right.path.type] ||
    right.path.value.length - left.path.value.length ||
    conditions(right) - conditions(left)
  );
}

/** A preflight match has two header conditions in addition to its method. */
function conditions({ method, preflight }: RouteMatch): number {
  return (method === undefined ? 0 : 1) + (preflight ? 2 : 0);
}

/** Whether Envoy matches a path, without its query. */
export function matchesPath({ type, value }: PathMatch, path: string): boolean {
  switch (type) {
    case "Exact":
      return path === value;
    case "PathPrefix":
      return value === "/" || path === value || path.startsWith(`${value.replace(/\/$/, "")}/`);
    case "RegularExpression":
      return new RegExp(`^(?:${value})$`).test(path);
  }
}
