import type { Relationship, RelationshipFilter } from "svc-access/authz";

/** The filter of one relationship. */
export function filterOf({ resource, relation, subject }: Relationship): RelationshipFilter {
  return {
    resourceType: resource.type,
    resourceId: resource.id,
    relation,
    subject: { type: subject.type, id: subject.id, relation: subject.relation ?? "" },
  };
}
