/** What an expression of PromQL names: the selectors of its series, and the labels that it groups by. */

/** A condition on a label. */
export interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

/** A metric, and the conditions on its series. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

/** The names of an expression. */
export interface Names {
  readonly selectors: readonly Selector[];
  readonly grouping: readonly string[];
}

const GROUPING = /\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const OPERATORS = new Set(["and", "or", "unless", "bool"]);
/** A name with its braces, unless a parenthesis follows: that is a function. */
const SELECTOR = /\b([a-z_]\w*)\b(?!\s*\()(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g;

/** Reads the names of an expression; its syntax is for promtool to check. */
export function namesIn(expr: string): Names {
  const grouping = [...expr.matchAll(GROUPING)].flatMap(([, list = ""]) =>
    list.split(",").map((label) => label.trim()),
  );
  const rest = expr.replaceAll(GROUPING, " ").replaceAll(/\[[^\]"]*\]/g, " ");
  const selectors = [...rest.matchAll(SELECTOR)]
    .filter(([, metric = ""]) => !OPERATORS.has(metric))
    .map(([, metric = "", braces = ""]) => ({ metric, matchers: matchersIn(braces) }));
  return { selectors, grouping };
}

function matchersIn(braces: string): Matcher[] {
  return [...braces.matchAll(MATCHER)].map(([, label = "", operator = "", value = ""]) => ({
    label,
    operator,
    value: value.replaceAll("\\\\", "\\"),
  }));
}
