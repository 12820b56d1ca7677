import type { Rpc } from "../api/api.ts";
import type { HttpBinding } from "../api/http-rule.ts";

/** An object that a path names: a variable, or a segment of one, that follows the name of a collection. */
export interface PathObject {
  /** The literal before it: `items` of `/v1/items/{item_id}`. */
  readonly collection: string;
  /** The field that its variable binds. */
  readonly field: string;
  /** The placeholder that takes its id. */
  readonly placeholder: string;
  /** The index of its segment. */
  readonly index: number;
}

/** Literals that are no collections: versions, and what stands before them. */
const NO_COLLECTION = /^(?:v[0-9]+[a-z0-9]*|api)$/;

/** The objects that the path of a binding names, from left to right. */
export function pathObjects({ template }: HttpBinding): PathObject[] {
  const { segments, variables } = template;
  return variables.flatMap(({ field, start, end }) =>
    segments.slice(start, end).flatMap((segment, offset): PathObject[] => {
      const index = start + offset;
      const before = segments[index - 1];
      if (segment.kind !== "single" || before?.kind !== "literal") return [];
      if (NO_COLLECTION.test(before.text)) return [];
      const placeholder = end - start === 1 ? `{${field}}` : `{${field}.${before.text}}`;
      return [{ collection: before.text, field, placeholder, index }];
    }),
  );
}

/** The request fields of which a resource takes the whole, or a segment. */
export function fieldsOfResource({ resource }: Rpc): Set<string> {
  const id = resource?.template?.id ?? "*";
  if (id === "*") return new Set();
  return new Set(
    id.flatMap((part) => (part.kind === "field" || part.kind === "segment" ? [part.path] : [])),
  );
}
