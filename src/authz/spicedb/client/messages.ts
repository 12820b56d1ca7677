import type { v1 } from "@authzed/authzed-node";
import { authzed } from "../../../common/drivers/authzed.ts";
import type {
  ObjectReference,
  Relationship,
  RelationshipFilter,
  SubjectReference,
} from "../../../model/relationship.ts";
import type {
  CheckRequest,
  Precondition,
  RelationshipUpdate,
  WriteOperation,
} from "../../engine/requests.ts";
import { decodeSpicedbId, encodeSpicedbId } from "./spicedb-id.ts";

/** An object in SpiceDB's message, its id encoded. */
export function toObject({ type, id }: ObjectReference): v1.ObjectReference {
  return { objectType: type, objectId: encodeSpicedbId(id) };
}

/** A subject in SpiceDB's message. */
export function toSubject(subject: SubjectReference): v1.SubjectReference {
  return { object: toObject(subject), optionalRelation: subject.relation ?? "" };
}

/** A relationship in SpiceDB's message. */
function toRelationship(relationship: Relationship): v1.Relationship {
  const { resource, relation, subject } = relationship;
  return { resource: toObject(resource), relation, subject: toSubject(subject) };
}

/** A relationship of SpiceDB's, its ids decoded. */
export function fromRelationship(message: v1.Relationship | undefined): Relationship {
  const subject = message?.subject;
  const relation = subject?.optionalRelation || undefined;
  return {
    resource: fromObject(message?.resource),
    relation: message?.relation ?? "",
    subject: { ...fromObject(subject?.object), ...(relation === undefined ? {} : { relation }) },
  };
}

function fromObject(message: v1.ObjectReference | undefined): ObjectReference {
  return { type: message?.objectType ?? "", id: decodeSpicedbId(message?.objectId ?? "") };
}

/** A check, as one of many. */
export function toCheckItem(request: CheckRequest): v1.CheckBulkPermissionsRequestItem {
  const { resource, permission, subject } = request;
  return { resource: toObject(resource), permission, subject: toSubject(subject) };
}

/** A filter in SpiceDB's message; empty strings there mean any. */
export function toFilter(filter: RelationshipFilter): v1.RelationshipFilter {
  const { resourceType, resourceId, relation, subject } = filter;
  const message: v1.RelationshipFilter = {
    resourceType: resourceType ?? "",
    optionalResourceId: resourceId === undefined ? "" : encodeSpicedbId(resourceId),
    optionalResourceIdPrefix: "",
    optionalRelation: relation ?? "",
  };
  if (subject === undefined) return message;
  const optionalSubjectFilter: v1.SubjectFilter = {
    subjectType: subject.type,
    optionalSubjectId: subject.id === undefined ? "" : encodeSpicedbId(subject.id),
  };
  if (subject.relation !== undefined) {
    optionalSubjectFilter.optionalRelation = { relation: subject.relation };
  }
  return { ...message, optionalSubjectFilter };
}

/** A precondition in SpiceDB's message. */
export function toPrecondition({ kind, filter }: Precondition): v1.Precondition {
  return { operation: authzed.Precondition_Operation[kind], filter: toFilter(filter) };
}

/** A change in SpiceDB's message. */
export function toUpdate(update: RelationshipUpdate): v1.RelationshipUpdate {
  return {
    operation: authzed.RelationshipUpdate_Operation[update.operation],
    relationship: toRelationship(update.relationship),
  };
}

/** A change of SpiceDB's; its watch reports TOUCH and DELETE only. */
export function fromUpdate(message: v1.RelationshipUpdate): RelationshipUpdate {
  return {
    operation: authzed.RelationshipUpdate_Operation[message.operation] as WriteOperation,
    relationship: fromRelationship(message.relationship),
  };
}

/** Whether SpiceDB grants; a permission under the condition of a caveat is not granted. */
export function isAllowed(permissionship: v1.CheckPermissionResponse_Permissionship): boolean {
  return permissionship === authzed.CheckPermissionResponse_Permissionship.HAS_PERMISSION;
}
