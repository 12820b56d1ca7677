import type { Rpc } from "../api/api.ts";
import { isCollectionOf } from "../api/collection.ts";
import { AUTHZ_FIELD, POLICY_FIELD } from "../api/policy.ts";
import { fieldsOfResource, pathObjects } from "./path-objects.ts";
import { atPolicy, rpcRule } from "./rule.ts";

/** What makes an object has no object yet, though the request may say which id it gets. */
const MAKES = /^(?:Create|Register|Insert|Add|New|Import|Provision)(?![a-z])/;

export const accessAuthzObjectUnused = rpcRule({
  id: "ACCESS_AUTHZ_OBJECT_UNUSED",
  category: "ACCESS_RECOMMENDED",
  purpose:
    "Checks that a request that names an object of the checked type is checked on that object, and not on any or a fixed one.",
  *checkRpc(rpc) {
    const template = rpc.resource?.template;
    if (template === undefined) return;
    const placeholder = unusedObject(rpc, template.type);
    if (placeholder === undefined) return;
    const checked = template.id === "*" ? "any of its type" : "another one";
    yield atPolicy(
      rpc,
      `authz.resource: the request of ${rpc.name} names the ${template.type} ${placeholder}, but ${checked} is checked; write ${template.type}:${placeholder}`,
      POLICY_FIELD.authz,
      AUTHZ_FIELD.resource,
    );
  },
});

/** The placeholder of an object of a type that the request names and the check does not use. */
function unusedObject(rpc: Rpc, type: string): string | undefined {
  if (rpc.stream === "client_streaming" || rpc.stream === "bidi_streaming") return undefined;
  const used = fieldsOfResource(rpc);
  const named = rpc.http
    .flatMap(({ binding }) => (binding === undefined ? [] : pathObjects(binding)))
    .filter(({ collection }) => isCollectionOf(collection, type));
  if (named.some(({ field }) => used.has(field))) return undefined;
  const [first] = named;
  if (first !== undefined) return first.placeholder;
  // A field says less than a path, so it counts only where the check names nothing of the request.
  const field = rpc.resource?.template === undefined ? undefined : rpc.resource.objectField;
  if (field === undefined || used.size > 0 || MAKES.test(rpc.name)) return undefined;
  return `{${field}}`;
}
