import type { Relationship } from "../../model/relationship.ts";
import type { RelationshipUpdate, WriteOperation } from "../engine/engine.ts";
import type { RelationshipTable } from "./tables.ts";

/** The columns of a relationship in the order of the primary key. */
export const RELATIONSHIP_COLUMNS = [
  "resource_type",
  "resource_id",
  "relation",
  "subject_type",
  "subject_id",
  "subject_relation",
] as const satisfies readonly (keyof RelationshipTable)[];

/** The values of a relationship in the order of `RELATIONSHIP_COLUMNS`. */
export type RelationshipValues = readonly [string, string, string, string, string, string];

/** What is stored of a relationship. */
export function toValues({ resource, relation, subject }: Relationship): RelationshipValues {
  return [resource.type, resource.id, relation, subject.type, subject.id, subject.relation ?? ""];
}

/** The relationship that was stored. */
export function fromRow(row: RelationshipTable): Relationship {
  const { subject_type: type, subject_id: id, subject_relation: relation } = row;
  return {
    resource: { type: row.resource_type, id: row.resource_id },
    relation: row.relation,
    subject: relation === "" ? { type, id } : { type, id, relation },
  };
}

/** An update in its stored form, which is short because there are many. */
type Entry = readonly [WriteOperation, ...RelationshipValues];

/** The updates of a write as JSON. */
export function encodeUpdates(updates: readonly RelationshipUpdate[]): string {
  return JSON.stringify(
    updates.map(({ operation, relationship }): Entry => [operation, ...toValues(relationship)]),
  );
}

/** The updates that `encodeUpdates` wrote. */
export function decodeUpdates(text: string): readonly RelationshipUpdate[] {
  return (JSON.parse(text) as readonly Entry[]).map(
    ([operation, resourceType, resourceId, relation, type, id, subjectRelation]) => ({
      operation,
      relationship: {
        resource: { type: resourceType, id: resourceId },
        relation,
        subject: subjectRelation === "" ? { type, id } : { type, id, relation: subjectRelation },
      },
    }),
  );
}
