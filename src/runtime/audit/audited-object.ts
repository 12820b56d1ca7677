import { resourceId } from "../authorization/resource-id.ts";
import type { BoundMethod } from "../binding/bound-method.ts";
import { streamsRequest } from "../binding/method-kind.ts";
import type { Call } from "../call/call.ts";
import type { Principal } from "../principal.ts";

/** Names the object that a call is about; undefined where the call names none. */
export type AuditedObject = (call: Call) => string | undefined;

/**
 * Makes what renders `audit.resource` of a method; undefined where it has none. A field that is
 * absent, or a value that makes no object id, leaves the event without an object: audit fails no call.
 *
 * @throws Error that says why the resource can never be rendered
 */
export function auditedObject(method: BoundMethod): AuditedObject | undefined {
  const resource = method.policy.audit?.resource;
  if (resource === undefined) return undefined;
  const { type } = resource;
  const input = streamsRequest(method.kind) ? undefined : method.descriptor?.input;
  const id = resourceId(resource, input);
  if (id === undefined) return () => `${type}:*`;
  return ({ request, principal }) => {
    try {
      // Without either, reading a field of it throws as for any other that is absent.
      return `${type}:${id(request, principal as Principal)}`;
    } catch {
      return undefined;
    }
  };
}
