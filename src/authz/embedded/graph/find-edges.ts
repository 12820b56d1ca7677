import type { RelationshipFilter } from "../../../model/relationship.ts";
import { NO_MEMBER } from "../program/program.ts";
import { listsOf, type RelationshipGraph } from "./relationship-graph.ts";

/**
 * The edges that match a filter, unordered; found through the object of the filter, if it names
 * one.
 */
export function* findEdges(
  graph: RelationshipGraph,
  filter: RelationshipFilter,
): Generator<number> {
  const matches = matcher(graph, filter);
  for (const edge of candidates(graph, filter)) {
    if (matches(edge)) yield edge;
  }
}

function* candidates(graph: RelationshipGraph, filter: RelationshipFilter): Generator<number> {
  const { resourceType, resourceId, subject } = filter;
  const { program, edges } = graph;
  if (resourceType !== undefined && resourceId !== undefined) {
    const members = program.memberIds[program.typeIds.get(resourceType) as number]?.values() ?? [];
    const object = graph.findObject(resourceType, resourceId);
    yield* edgesOf(graph, object, members, true);
  } else if (subject?.id !== undefined) {
    const members = program.subjectMembers[program.typeIds.get(subject.type) as number] ?? [];
    yield* edgesOf(graph, graph.findObject(subject.type, subject.id), members, false);
  } else {
    for (let edge = 0; edge < edges.end; edge++) {
      if (edges.left(edge) >= 0) yield edge;
    }
  }
}

function* edgesOf(
  { pairs, edges, subjects, resources }: RelationshipGraph,
  object: number,
  members: Iterable<number>,
  asResource: boolean,
): Generator<number> {
  // Most often, of a user whom no relationship names.
  if (object < 0) return;
  const lists = asResource ? subjects : resources;
  for (const member of members) {
    const pair = pairs.find(object, member);
    if (pair < 0) continue;
    for (const list of listsOf(pair)) {
      for (let index = 0; index < lists.length(list); index++) {
        const other = lists.item(list, index);
        yield asResource ? edges.find(pair, other) : edges.find(other, pair);
      }
    }
  }
}

function matcher(graph: RelationshipGraph, filter: RelationshipFilter): (edge: number) => boolean {
  const { program, objects, pairs, edges } = graph;
  const { resourceType, resourceId, relation, subject } = filter;
  const typeOf = (object: number) => program.typeNames[objects.types[object] as number];
  return (edge) => {
    const from = edges.left(edge);
    const resource = pairs.object(from);
    if (resourceType !== undefined && typeOf(resource) !== resourceType) return false;
    if (resourceId !== undefined && objects.idOf(resource) !== resourceId) return false;
    if (relation !== undefined && graph.memberName(pairs.member(from)) !== relation) {
      return false;
    }
    if (subject === undefined) return true;
    const to = edges.right(edge);
    const object = pairs.object(to);
    if (typeOf(object) !== subject.type) return false;
    if (subject.id !== undefined && objects.idOf(object) !== subject.id) return false;
    if (subject.relation === undefined) return true;
    const member = pairs.member(to);
    return member === NO_MEMBER
      ? subject.relation === ""
      : graph.memberName(member) === subject.relation;
  };
}
