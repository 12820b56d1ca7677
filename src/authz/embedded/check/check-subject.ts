import type { ObjectReference, SubjectReference } from "../../../model/relationship.ts";
import type { RelationshipGraph } from "../graph/relationship-graph.ts";
import { NO_MEMBER } from "../program/program.ts";

/** The number of a resource that no relationship names. */
export const UNKNOWN_RESOURCE = -1;
const UNKNOWN_SUBJECT = -2;

/** The subject of a check, as integers. */
export interface CheckSubject {
  readonly type: number;
  readonly object: number;
  readonly member: number;
  /** The pair of the subject, or -1. */
  readonly pair: number;
  /** The wildcard of its type, or -1; wildcards do not include usersets. */
  readonly wildcard: number;
}

/**
 * The subject in a graph. It may be in no relationship; a subject that the model does not know is
 * -1. A subject that is also the resource has the number of the resource, since `x#r@x#r` is true.
 */
export function checkSubject(
  graph: RelationshipGraph,
  subject: SubjectReference,
  resource?: ObjectReference,
): CheckSubject {
  const type = graph.program.typeIds.get(subject.type) ?? -1;
  const member = graph.memberOf(subject);
  const same = resource?.type === subject.type && resource.id === subject.id;
  const known = graph.objects.find(type, subject.id);
  return {
    type,
    object: known >= 0 ? known : same ? UNKNOWN_RESOURCE : UNKNOWN_SUBJECT,
    member,
    pair: graph.pairs.find(known, member),
    wildcard: member === NO_MEMBER ? (graph.objects.wildcards[type] ?? -1) : -1,
  };
}
