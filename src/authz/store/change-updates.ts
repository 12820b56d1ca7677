import type { RelationshipUpdate, WriteOperation } from "../engine/engine.ts";
import { type RelationshipValues, toValues } from "./relationship-row.ts";

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
