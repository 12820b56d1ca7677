import type { PathTemplate, Segment } from "../../api/path-template.ts";
import type { PathMatch } from "./plan.ts";

/** The maximum length of a path match. */
const MAX_PATH_LENGTH = 1024;

/** The methods that the Gateway API allows in a match. */
export const GATEWAY_METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "CONNECT",
  "OPTIONS",
  "TRACE",
  "PATCH",
]);

/** One non-empty segment. */
const SINGLE = "[^/]+";
/** Matches nothing, and makes a regular expression longer. */
const PADDING = "(?:)";

/**
 * The match of a single template: exact if it has no wildcard, a prefix if only
 * `**` follows its literals, otherwise a regular expression, which Envoy matches
 * against the whole path.
 */
export function naturalMatch(template: PathTemplate): PathMatch {
  const { segments, verb } = template;
  const wildcard = segments.findIndex(({ kind }) => kind !== "literal");
  if (wildcard < 0) return { type: "Exact", value: literalPath(segments, verb) };
  const prefix = wildcard === segments.length - 1 && segments[wildcard]?.kind === "multi";
  if (prefix && verb === undefined) {
    return { type: "PathPrefix", value: literalPath(segments.slice(0, wildcard), undefined) };
  }
  return regexMatch(template, 0);
}

/** The regular expression of a template, padded to at least a given length. */
export function regexMatch(template: PathTemplate, length: number): PathMatch {
  const { segments, verb } = template;
  let text = "";
  for (const [index, segment] of segments.entries()) {
    if (segment.kind === "multi") text += index === 0 ? "/.*" : "(?:/.*)?";
    else text += segment.kind === "single" ? `/${SINGLE}` : `/${quote(segment.text)}`;
  }
  if (verb !== undefined) text += `:${quote(verb)}`;
  const missing = Math.max(0, Math.ceil((length - text.length) / PADDING.length));
  return { type: "RegularExpression", value: text + PADDING.repeat(missing) };
}

/** Why a match is not valid in an HTTPRoute; undefined if it is. */
export function describeInvalidMatch({ type, value }: PathMatch): string | undefined {
  if (value.length > MAX_PATH_LENGTH) {
    return `its match has ${value.length} characters and the Gateway API allows ${MAX_PATH_LENGTH}`;
  }
  // The listener rejects an encoded slash with 400, so such a route would be unreachable.
  if (/%(?:2f|5c)/i.test(value)) return "the gateway rejects paths with an encoded slash";
  if (
    type !== "RegularExpression" &&
    /\/\/|\/\.{1,2}(?:\/|$)|[^-A-Za-z0-9/._~!$&'()*+,;=:@%]/.test(value)
  ) {
    return "the Gateway API does not allow such a path";
  }
  return undefined;
}

function literalPath(segments: readonly Segment[], verb: string | undefined): string {
  const path = segments
    .map((segment) => (segment.kind === "literal" ? segment.text : ""))
    .join("/");
  return `/${path}${verb === undefined ? "" : `:${verb}`}`;
}

/** Escapes text for RE2. */
function quote(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
