import type {
  ObjectReference,
  Relationship,
  SubjectReference,
} from "../../../gen/svc/iam/v1/relationship_pb.ts";
import type { WrittenRelationship } from "../connection/references.ts";

/** An object of a message as text: `zone:acme`. */
export function objectText(object: Pick<ObjectReference, "type" | "id"> | undefined): string {
  return object === undefined ? "" : `${object.type}:${object.id}`;
}

/** A subject of a message as text: `group:eng#member`. */
export function subjectText(
  subject: Pick<SubjectReference, "type" | "id" | "relation"> | undefined,
): string {
  const relation = subject?.relation ?? "";
  return `${objectText(subject)}${relation === "" ? "" : `#${relation}`}`;
}

/** A relationship of a message as text: `zone:acme#owner@user:alice`. */
export function relationshipText({
  resource,
  relation,
  subject,
}: Relationship | WrittenRelationship): string {
  return `${objectText(resource)}#${relation}@${subjectText(subject)}`;
}
