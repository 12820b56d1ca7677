import type { Relationship } from "../../model/relationship.ts";
import { formatRelationship } from "../../model/relationship-text.ts";
import type { RequestValidator } from "./validate-request.ts";

/** A stored relationship that the model does not allow, and why: what `--misfit` selects. */
export interface DisallowedRelationship {
  readonly relationship: Relationship;
  readonly reason: string;
}

/** Why the model does not allow a relationship that was stored; undefined where it does. */
export function disallowedRelationship(
  validator: RequestValidator,
  relationship: Relationship,
): DisallowedRelationship | undefined {
  try {
    validator.relationship(relationship);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    const prefix = `${formatRelationship(relationship)}: `;
    return {
      relationship,
      reason: message.startsWith(prefix) ? message.slice(prefix.length) : message,
    };
  }
}

/** `type:id#relation@type:id: why`. */
export function formatDisallowed({ relationship, reason }: DisallowedRelationship): string {
  return `${formatRelationship(relationship)}: ${reason}`;
}
