import type {
  ObjectReference,
  Relationship,
  RelationshipFilter,
  SubjectReference,
} from "svc-access/authz";

/** An object as text: `type:id`. */
export function objectText({ type, id }: ObjectReference): string {
  return `${type}:${id}`;
}

/** A relationship as text: `group:eng#member@user:alice`. */
export function formatRelationship({ resource, relation, subject }: Relationship): string {
  return `${objectText(resource)}#${relation}@${formatSubject(subject)}`;
}

/** A subject as text: `user:alice` or `group:eng#member`. */
export function formatSubject(subject: SubjectReference): string {
  const set = subject.relation === undefined ? "" : `#${subject.relation}`;
  return `${objectText(subject)}${set}`;
}

/** The filter of one relationship. */
export function filterOf({ resource, relation, subject }: Relationship): RelationshipFilter {
  return {
    resourceType: resource.type,
    resourceId: resource.id,
    relation,
    subject: { type: subject.type, id: subject.id, relation: subject.relation ?? "" },
  };
}
