/** Relationships, subjects and filters of the API, as the authorization engine takes and gives them. */
import type {
  CallOptions,
  ObjectReference,
  Precondition,
  Relationship,
  RelationshipFilter,
  SubjectReference,
} from "svc-access/authz";
import { type CallContext, ServiceError } from "svc-access/runtime";
import {
  type Consistency,
  PreconditionOperation,
  type RelationshipFilter as SentFilter,
  type ObjectReference as SentObject,
  type Precondition as SentPrecondition,
  type Relationship as SentRelationship,
  type SubjectReference as SentSubject,
  WriteMode,
} from "../../../gen/svc/iam/v1/relationship_pb.ts";

/** @throws ServiceError INVALID_ARGUMENT if a call has more of something than it may */
export function assertAtMost(what: string, count: number, limit: number): void {
  if (count > limit) throw invalid(`a call has at most ${limit} ${what}, not ${count}`);
}

/** @throws ServiceError INVALID_ARGUMENT if it is absent */
export function toObject(sent: SentObject | undefined, field: string): ObjectReference {
  const { type, id } = required(sent, field);
  return { type, id };
}

/**
 * A subject. The type may have the relation of a set, as in `group#member`.
 *
 * @throws ServiceError INVALID_ARGUMENT if it is absent, or names two relations
 */
export function toSubject(sent: SentSubject | undefined, field: string): SubjectReference {
  const { type, id, relation } = required(sent, field);
  const hash = type.indexOf("#");
  if (hash < 0) return relation === "" ? { type, id } : { type, id, relation };
  if (relation !== "") throw invalid(`${field}.type has a relation, so relation must be empty`);
  return { type: type.slice(0, hash), id, relation: type.slice(hash + 1) };
}

/** @throws ServiceError INVALID_ARGUMENT if a part of it is absent */
export function toRelationship(sent: SentRelationship | undefined, field: string): Relationship {
  const { resource, relation, subject } = required(sent, field);
  return {
    resource: toObject(resource, `${field}.resource`),
    relation,
    subject: toSubject(subject, `${field}.subject`),
  };
}

/** @throws ServiceError INVALID_ARGUMENT for one that contradicts itself */
export function toFilter(sent: SentFilter | undefined): RelationshipFilter {
  const { resourceType = "", resourceId = "", relation = "" } = sent ?? {};
  const subject = toSubjectFilter(sent);
  return {
    ...(resourceType === "" ? {} : { resourceType }),
    ...(resourceId === "" ? {} : { resourceId }),
    ...(relation === "" ? {} : { relation }),
    ...(subject === undefined ? {} : { subject }),
  };
}

function toSubjectFilter(sent: SentFilter | undefined): RelationshipFilter["subject"] {
  if (sent === undefined) return undefined;
  const { subjectType: type, subjectId: id, subjectRelation, withoutSubjectRelation } = sent;
  if (withoutSubjectRelation && subjectRelation !== "") {
    throw invalid("filter.without_subject_relation is true, so subject_relation must be empty");
  }
  if (type === "") {
    if (id === "" && subjectRelation === "" && !withoutSubjectRelation) return undefined;
    throw invalid("filter.subject_type is required beside another field of the subject");
  }
  // The engine takes an empty relation for none, and an absent one for any.
  const relation = withoutSubjectRelation ? "" : subjectRelation || undefined;
  return {
    type,
    ...(id === "" ? {} : { id }),
    ...(relation === undefined ? {} : { relation }),
  };
}

const KINDS: Readonly<Record<PreconditionOperation, Precondition["kind"] | undefined>> = {
  [PreconditionOperation.UNSPECIFIED]: undefined,
  [PreconditionOperation.MUST_MATCH]: "MUST_MATCH",
  [PreconditionOperation.MUST_NOT_MATCH]: "MUST_NOT_MATCH",
};

/** @throws ServiceError INVALID_ARGUMENT without an operation that is known */
export function toPrecondition({ operation, filter }: SentPrecondition): Precondition {
  const kind = KINDS[operation];
  if (kind === undefined) {
    throw invalid("the operation of a precondition must be MUST_MATCH or MUST_NOT_MATCH");
  }
  return { kind, filter: toFilter(filter) };
}

/** @throws ServiceError INVALID_ARGUMENT for a mode that is not known */
export function toWriteOperation(mode: WriteMode): "TOUCH" | "CREATE" {
  switch (mode) {
    case WriteMode.UNSPECIFIED:
    case WriteMode.TOUCH:
      return "TOUCH";
    case WriteMode.CREATE:
      return "CREATE";
    default:
      throw invalid(`mode ${mode} is not known`);
  }
}

/**
 * The options of a call of the engine on behalf of a call of the API.
 *
 * @throws ServiceError INVALID_ARGUMENT for a revision that would not be looked at
 */
export function toCallOptions(
  consistency: Consistency | undefined,
  { signal }: Pick<CallContext, "signal">,
): CallOptions {
  const { case: kind, value } = consistency?.requirement ?? { case: undefined };
  if (consistency?.besideRevision !== undefined && kind !== "fullyConsistent") {
    throw invalid(
      "consistency.beside_revision needs fully_consistent: without it, name the revision as at_least_as_fresh",
    );
  }
  switch (kind) {
    case "atLeastAsFresh":
      return { signal, atLeastAsFresh: value };
    case "fullyConsistent": {
      const { besideRevision: revision } = consistency as Consistency;
      const beside = revision === undefined ? {} : { atLeastAsFresh: revision };
      return { signal, newest: value, ...beside };
    }
    default:
      return { signal };
  }
}

const DEFAULT_PAGE_SIZE = 100;

/** The page that a request asks for; the engine refuses a size that is not valid. */
export function toPage(request: { readonly pageSize: number; readonly pageToken: string }): {
  readonly pageSize: number;
  readonly cursor?: string;
} {
  const { pageSize, pageToken } = request;
  return {
    pageSize: pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize,
    ...(pageToken === "" ? {} : { cursor: pageToken }),
  };
}

/** A relationship as the API has it. */
export function relationshipMessage({ resource, relation, subject }: Relationship) {
  return {
    resource: { type: resource.type, id: resource.id },
    relation,
    subject: { type: subject.type, id: subject.id, relation: subject.relation ?? "" },
  };
}

function required<Message>(message: Message | undefined, field: string): Message {
  if (message === undefined) throw invalid(`${field} is required`);
  return message;
}

function invalid(message: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", message);
}
