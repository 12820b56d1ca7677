import type { PathMatch, RouteMatch } from "./plan.ts";

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
