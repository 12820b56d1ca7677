import type { Model } from "../model.ts";
import { whyNotAllowed } from "./check-relationship.ts";
import type { ModelChange } from "./diff-models.ts";
import type { PlacedRelationship } from "./validation-file.ts";

/** A stored relationship that a new model does not allow. */
export interface Blocker {
  readonly relationship: PlacedRelationship;
  readonly reason: string;
}

/** Which stored relationships a new model does not allow: they must go before it can be used. */
export function blockingRelationships(
  model: Model,
  stored: readonly PlacedRelationship[],
): Blocker[] {
  return stored.flatMap((relationship) => {
    const reason = whyNotAllowed(model, relationship);
    return reason === undefined ? [] : [{ relationship, reason }];
  });
}

/** Whether a change may be blocked by stored relationships: it takes away what they can use. */
export function mayBlock(
  { kind, change, name }: ModelChange,
  before: Model,
  after: Model,
): boolean {
  if (change !== "removed") return false;
  if (kind === "relation" || kind === "subject") return true;
  // A permission is used by the usersets that name it, and only a removed subject type shows that.
  if (kind === "permission") return false;
  const definition = before.definitions.get(name);
  return definition !== undefined && !after.definitions.has(name) && definition.relations.size > 0;
}
