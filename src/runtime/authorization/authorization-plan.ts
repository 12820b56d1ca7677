import type { AccessPolicy } from "../access-policy.ts";
import type { BoundMethod } from "../binding/bound-method.ts";
import { streamsRequest } from "../binding/method-kind.ts";
import { type ResourceId, resourceId } from "./resource-id.ts";

/** What must be found out before a method is called; worked out once. */
export interface AuthorizationPlan {
  readonly exposure: AccessPolicy["exposure"];
  /** Of AUTHORIZED only. */
  readonly check: PlannedCheck | undefined;
}

/** The check of an AUTHORIZED method. */
export interface PlannedCheck {
  readonly action: string;
  readonly audience: string;
  readonly type: string;
  /** Renders the object's id; absent where any object of the type will do. */
  readonly id: ResourceId | undefined;
}

/** Makes the plan of a method. @throws Error that says why its policy can never be evaluated */
export function planAuthorization(method: BoundMethod): AuthorizationPlan {
  const { exposure, authz } = method.policy;
  if (exposure !== "AUTHORIZED") return { exposure, check: undefined };
  if (authz === undefined) throw new Error("it is AUTHORIZED and has no authz");
  const { action, audience, resource } = authz;
  // No message of a stream is the one that says which object is meant.
  const input = streamsRequest(method.kind) ? undefined : method.descriptor?.input;
  const id = resourceId(resource, input);
  return { exposure, check: { action, audience, type: resource.type, id } };
}
