import type { ObjectReference, Relationship } from "svc-access/authz";

/** An object as text: `type:id`. */
export function objectText({ type, id }: ObjectReference): string {
  return `${type}:${id}`;
}

/** A relationship as text: `group:eng#member@user:alice`. */
export function formatRelationship({ resource, relation, subject }: Relationship): string {
  const set = subject.relation === undefined ? "" : `#${subject.relation}`;
  return `${objectText(resource)}#${relation}@${objectText(subject)}${set}`;
}
