import type { Rpc } from "../../api/api.ts";
import type { HttpBinding } from "../../api/http-rule.ts";
import { isCollectionOf } from "../../api/name-pattern.ts";
import { boundId, hasWrongPlaceholder, pathObjects, takesFromRequest } from "./path-objects.ts";

/** An object of the checked type that a request names and the check does not use. */
export interface UnusedObject {
  /** The placeholder that takes its id. */
  readonly placeholder: string;
  /** The id that binds it, and with it each object that the path names above it. */
  readonly instead: string;
}

/** What makes an object has no object yet, though the request may say which id it gets. */
const MAKES = /^(?:Create|Register|Insert|Add|New|Import|Provision)(?![a-z])/;

/** The object of the checked type that the request names, where the check is on any or on another one. */
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
  // A field says less than a path, so it counts only where the check names nothing of the request.
  const field = resource.objectField;
  if (field === undefined || takesFromRequest(rpc) || MAKES.test(rpc.name)) return undefined;
  return { placeholder: `{${field}}`, instead: `{${field}}` };
}

/** The index of the segment that says which object a call makes: the last of `PUT /v1/topics/{topic_id}`. */
function madeAt({ name }: Rpc, { template }: HttpBinding): number | undefined {
  const { segments, verb } = template;
  return verb === undefined && MAKES.test(name) ? segments.length - 1 : undefined;
}
