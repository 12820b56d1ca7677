import type { HttpBinding, Rpc } from "../../api/api.ts";
import { isCollectionOf } from "../../api/name-pattern.ts";
import { boundId, hasWrongPlaceholder, pathObjects, takesFromRequest } from "./path-objects.ts";

/** An object of the checked type that a request names and the check does not use. */
export interface UnusedObject {
  /** The placeholder for its id. */
  readonly placeholder: string;
  /** The id that includes it and each parent object in the path. */
  readonly instead: string;
}

/** Methods that create an object. It does not exist yet, though the request may choose its id. */
const MAKES = /^(?:Create|Register|Insert|Add|New|Import|Provision)(?![a-z])/;

/** The object of the checked type that the request names, if any or another object is checked. */
export function unusedObject(rpc: Rpc): UnusedObject | undefined {
  const { resource, stream } = rpc;
  if (resource?.template === undefined || hasWrongPlaceholder(rpc)) return undefined;
  if (stream === "client_streaming" || stream === "bidi_streaming") return undefined;
  const { type } = resource.template;
  let first: UnusedObject | undefined;
  for (const { binding } of rpc.http) {
    if (binding === undefined) continue;
    const objects = pathObjects(binding, rpc);
    const made = madeAt(rpc, binding);
    for (const [place, { collection, placeholder, index, isUsed }] of objects.entries()) {
      if (!isCollectionOf(collection, type)) continue;
      if (isUsed) return undefined;
      if (index === made) continue;
      first ??= { placeholder, instead: boundId(objects.slice(0, place + 1)) };
    }
  }
  if (first !== undefined) return first;
  // A field is weaker evidence than a path, so it counts only if the check uses nothing of the request.
  const field = resource.objectField;
  if (field === undefined || takesFromRequest(rpc) || MAKES.test(rpc.name)) return undefined;
  return { placeholder: `{${field}}`, instead: `{${field}}` };
}

/** The index of the segment with the id of a created object: the last in `PUT /v1/topics/{topic_id}`. */
function madeAt({ name }: Rpc, { template }: HttpBinding): number | undefined {
  const { segments, verb } = template;
  return verb === undefined && MAKES.test(name) ? segments.length - 1 : undefined;
}
