import type { HttpBinding, HttpRule, Rpc } from "../../api/api.ts";
import { namePatternsOf, segmentIndex, segmentNames } from "../../api/name-pattern.ts";
import { formatSegment } from "../../api/path-template.ts";

/** An object in a path: a variable, or a segment of one, after the name of a collection. */
export interface PathObject {
  /** The literal before it: `items` of `/v1/items/{item_id}`. */
  readonly collection: string;
  /** The placeholder for its id. */
  readonly placeholder: string;
  /** The index of its segment. */
  readonly index: number;
  /** Whether the resource of the RPC uses its id. */
  readonly isUsed: boolean;
}

/** Literals that are not collections: versions, and prefixes before them. */
const NO_COLLECTION = /^(?:v[0-9]+[a-z0-9]*|api)$/;

/**
 * The objects in the path of a binding that a placeholder can name, from left to right.
 *
 * A segment that another binding of the same field lacks is left out: no placeholder may name it.
 */
export function pathObjects({ template }: HttpBinding, rpc: Rpc): PathObject[] {
  const { segments, variables } = template;
  return variables.flatMap(({ field, start, end }) => {
    const bound = segments.slice(start, end);
    const pattern = bound.map(formatSegment).join("/");
    const names = segmentNames(pattern);
    const used = usedSegments(rpc, field, pattern);
    return bound.flatMap((segment, offset): PathObject[] => {
      if (segment.kind !== "single") return [];
      const name = names.shift() ?? "";
      const index = start + offset;
      const before = segments[index - 1];
      if (before?.kind !== "literal" || NO_COLLECTION.test(before.text)) return [];
      const placeholder = bound.length === 1 ? field : segmentPlaceholder(field, name, rpc.http);
      if (placeholder === undefined) return [];
      const isUsed = used === "all" || used.has(offset);
      return [{ collection: before.text, placeholder: `{${placeholder}}`, index, isUsed }];
    });
  });
}

/** `name.merchants`; undefined if a binding gives the field a pattern without that segment. */
export function segmentPlaceholder(
  field: string,
  name: string,
  http: readonly HttpRule[],
): string | undefined {
  const { patterns, isInAll } = namesOf(field, http);
  let known = isInAll.get(name);
  if (known === undefined) {
    known = patterns.every((pattern) => segmentIndex(pattern, name).index !== undefined);
    isInAll.set(name, known);
  }
  return known ? `${field}.${name}` : undefined;
}

interface FieldNames {
  readonly patterns: readonly string[];
  /** Whether all patterns have a segment, by its name. */
  readonly isInAll: Map<string, boolean>;
}

/** A cache, by the bindings of an RPC and by field: an RPC may have thousands of bindings, and each one is looked up. */
const NAMES = new WeakMap<readonly HttpRule[], Map<string, FieldNames>>();

function namesOf(field: string, http: readonly HttpRule[]): FieldNames {
  let fields = NAMES.get(http);
  if (fields === undefined) {
    fields = new Map();
    NAMES.set(http, fields);
  }
  let names = fields.get(field);
  if (names === undefined) {
    names = { patterns: namePatternsOf(field, http), isInAll: new Map() };
    fields.set(field, names);
  }
  return names;
}

/** The segments of a variable that the resource uses, by their index in its pattern. */
function usedSegments(
  { resource }: Rpc,
  field: string,
  pattern: string,
): "all" | ReadonlySet<number> {
  const used = new Set<number>();
  const id = resource?.template?.id ?? "*";
  for (const part of id === "*" ? [] : id) {
    if (part.kind === "field" && part.path === field) return "all";
    if (part.kind !== "segment" || part.path !== field) continue;
    const { index } = segmentIndex(pattern, part.segment);
    if (index !== undefined) used.add(index);
  }
  return used;
}

/** Whether the resource uses a field of the request. */
export function takesFromRequest({ resource }: Rpc): boolean {
  const id = resource?.template?.id ?? "*";
  return id !== "*" && id.some(({ kind }) => kind === "field" || kind === "segment");
}

/** Whether a placeholder of the resource is wrong, which ACCESS_AUTHZ_PLACEHOLDER_FIELD reports. */
export function hasWrongPlaceholder({ resource }: Rpc): boolean {
  return (
    resource?.template !== undefined &&
    resource.fields.some(({ found }) => found.status !== "found")
  );
}

/** The id that includes these objects, from parent to child: `{merchant_id}/{account_id}`. */
export function boundId(objects: readonly PathObject[]): string {
  return objects.map(({ placeholder }) => placeholder).join("/");
}
