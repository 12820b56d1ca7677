/** The messages of IAM, from requests of an engine and to its results. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type PermissionStep,
  RelationshipOperation,
  type RelationshipUpdate as SentUpdate,
} from "../../gen/proto/svc/iam/v1/permission_pb.ts";
import {
  PreconditionOperation,
  type PreconditionSchema,
  type RelationshipFilterSchema,
  type Relationship as SentRelationship,
  type SubjectReference as SentSubject,
} from "../../gen/proto/svc/iam/v1/relationship_pb.ts";
import type {
  Relationship,
  RelationshipFilter,
  SubjectReference,
} from "../../model/relationship.ts";
import { AuthzError } from "../engine/authz-error.ts";
import type {
  CheckAnyRequest,
  CheckRequest,
  Explanation,
  Precondition,
  RelationshipUpdate,
  WriteOperation,
} from "../engine/requests.ts";

export function toSubject({ type, id, relation = "" }: SubjectReference) {
  return { type, id, relation };
}

export function toCheck({ resource: { type, id }, permission, subject }: CheckRequest) {
  return { resource: { type, id }, permission, subject: toSubject(subject) };
}

export function toAny({ resourceType, permission, subject }: CheckAnyRequest) {
  return { resourceType, permission, subject: toSubject(subject) };
}

export function toFilter(
  filter: RelationshipFilter,
): MessageInitShape<typeof RelationshipFilterSchema> {
  const { resourceType = "", resourceId = "", relation = "", subject } = filter;
  return {
    resourceType,
    resourceId,
    relation,
    subjectType: subject?.type ?? "",
    subjectId: subject?.id ?? "",
    subjectRelation: subject?.relation ?? "",
    withoutSubjectRelation: subject?.relation === "",
  };
}

export function toUpdate({ operation, relationship }: RelationshipUpdate) {
  const { resource, relation, subject } = relationship;
  return {
    operation: RelationshipOperation[operation],
    relationship: {
      resource: { type: resource.type, id: resource.id },
      relation,
      subject: toSubject(subject),
    },
  };
}

export function toPrecondition({
  kind,
  filter,
}: Precondition): MessageInitShape<typeof PreconditionSchema> {
  return { operation: PreconditionOperation[kind], filter: toFilter(filter) };
}

/** @throws AuthzError INTERNAL for a response that lacks a part */
export function fromRelationship({ resource, relation, subject }: SentRelationship): Relationship {
  if (resource === undefined || subject === undefined) throw incomplete("a relationship");
  const { type, id } = resource;
  return { resource: { type, id }, relation, subject: fromSubject(subject) };
}

function fromSubject({ type, id, relation }: SentSubject): SubjectReference {
  return relation === "" ? { type, id } : { type, id, relation };
}

const OPERATIONS: Readonly<Partial<Record<RelationshipOperation, WriteOperation>>> = {
  [RelationshipOperation.CREATE]: "CREATE",
  [RelationshipOperation.TOUCH]: "TOUCH",
  [RelationshipOperation.DELETE]: "DELETE",
};

/** @throws AuthzError INTERNAL for an operation that is not known */
export function fromUpdate({ operation, relationship }: SentUpdate): RelationshipUpdate {
  const known = OPERATIONS[operation];
  if (known === undefined || relationship === undefined) throw incomplete("a change");
  return { operation: known, relationship: fromRelationship(relationship) };
}

const KINDS: ReadonlySet<string> = new Set<Explanation["kind"]>([
  "relation",
  "union",
  "intersection",
  "exclusion",
  "arrow",
  "self",
  "nil",
  "cycle",
]);

/** A step that gets its parts while the list is read. */
type Step = Explanation & { readonly children: Explanation[] };

/**
 * The explanation that a list of steps is of.
 *
 * @throws AuthzError INTERNAL for a list that is none
 */
export function fromSteps(sent: readonly PermissionStep[]): Explanation {
  const steps: Step[] = [];
  for (const { resource, permission, allowed, kind, relationship, parent } of sent) {
    if (resource === undefined || !KINDS.has(kind)) throw incomplete("a step of a decision");
    const step: Step = {
      resource: { type: resource.type, id: resource.id },
      permission,
      allowed,
      kind: kind as Explanation["kind"],
      ...(relationship === undefined ? {} : { relationship: fromRelationship(relationship) }),
      children: [],
    };
    if (steps.length > 0) {
      const above = steps[parent];
      if (above === undefined) throw incomplete("a step of a decision");
      above.children.push(step);
    }
    steps.push(step);
  }
  const [root] = steps;
  if (root === undefined) throw incomplete("an explanation");
  return root;
}

function incomplete(what: string): AuthzError {
  return new AuthzError("INTERNAL", `IAM returned ${what} that this version does not understand`);
}
