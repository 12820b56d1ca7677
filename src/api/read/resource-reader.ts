import type { HttpRule } from "../api.ts";
import type { MessageIndex } from "../descriptors/message-index.ts";
import { type FieldLookup, type FieldReference, isInteger } from "../field.ts";
import { bareType, namePatternsOf, SEGMENT_NAME, segmentIndex } from "../name-pattern.ts";
import { type DeclaredResource, parseResource, type ResourcePart } from "../resource.ts";

/** Where the placeholders of a resource are looked up. */
interface Scope {
  /** The full name of the request message. */
  readonly request: string;
  readonly http: readonly HttpRule[];
  readonly messages: MessageIndex;
}

/**
 * Parses a resource and looks up what its placeholders name: a field of the
 * request, or one segment of a field that a path variable binds.
 */
export function readResource(text: string, scope: Scope): DeclaredResource {
  const parsed = parseResource(text);
  if (parsed.template === undefined) return parsed;
  const { type, id } = parsed.template;
  const field = objectField(type, scope);
  const named = field === undefined ? {} : { objectField: field };
  if (id === "*") return { template: parsed.template, fields: [], ...named };
  const fields: FieldReference[] = [];
  const parts = id.map((part): ResourcePart => {
    if (part.kind !== "field") return part;
    const { found, segment } = lookup(part.path, scope);
    fields.push({ path: part.path, found });
    return segment ?? part;
  });
  return { template: { type, id: parts }, fields, ...named };
}

function objectField(type: string, { request, messages }: Scope): string | undefined {
  const name = bareType(type);
  return [`${name}_id`, name].find((field) => {
    const found = messages.lookup(request, field);
    if (found.status !== "found" || found.repeated) return false;
    return found.kind === "string" || isInteger(found.kind);
  });
}

type SegmentPart = Extract<ResourcePart, { kind: "segment" }>;

function lookup(path: string, scope: Scope): { found: FieldLookup; segment?: SegmentPart } {
  const { request, http, messages } = scope;
  const found = messages.lookup(request, path);
  const dot = path.lastIndexOf(".");
  if (found.status !== "not_a_message" || found.kind !== "string" || found.repeated) {
    return { found };
  }
  const field = path.slice(0, dot);
  const segment = path.slice(dot + 1);
  const text = messages.lookup(request, field);
  // Text has segments, but neither the text nor its segments have fields.
  if (text.status !== "found" || !SEGMENT_NAME.test(segment)) return { found };
  const patterns = namePatternsOf(field, http);
  if (patterns.length === 0) {
    const reason = `"${field}" is text that no path variable binds, so it has no segments`;
    return { found: { status: "no_segment", reason } };
  }
  for (const pattern of patterns) {
    const place = segmentIndex(pattern, segment);
    if (place.index === undefined) {
      return { found: { status: "no_segment", reason: place.error } };
    }
  }
  return { found: text, segment: { kind: "segment", path: field, segment, patterns } };
}
