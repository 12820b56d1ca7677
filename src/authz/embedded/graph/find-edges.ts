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

/** How many edges of an object are looked at for the only one. */
const FEW = 16;

/**
 * The only edge that matches a filter; -1 if none does, as most often of the groups of a user.
 *
 * @returns undefined if it needs `findEdges`: the filter names no object, or several edges match, or its object has many
 */
export function findOnlyEdge(
  graph: RelationshipGraph,
  filter: RelationshipFilter,
): number | undefined {
  const named = namedObject(graph, filter);
  if (named === undefined) return undefined;
  if (named.object < 0) return -1;
  const { pairs, subjects, resources } = graph;
  const lists = named.isResource ? subjects : resources;
  let matches: ((edge: number) => boolean) | undefined;
  let only = -1;
  let seen = 0;
  for (const member of named.members) {
    const pair = pairs.find(named.object, member);
    if (pair < 0) continue;
    for (const list of listsOf(pair)) {
      const length = lists.length(list);
      seen += length;
      if (seen > FEW) return undefined;
      for (let index = 0; index < length; index++) {
        const edge = edgeAt(graph, pair, lists.item(list, index), named.isResource);
        matches ??= matcher(graph, filter);
        if (!matches(edge)) continue;
        if (only >= 0) return undefined;
        only = edge;
      }
    }
  }
  return only;
}

/** An object that a filter names, and the members by which relationships name it. */
interface NamedObject {
  /** -1 if no relationship names it. */
  readonly object: number;
  readonly members: Iterable<number>;
  /** Else a subject. */
  readonly isResource: boolean;
}

function namedObject(
  graph: RelationshipGraph,
  { resourceType, resourceId, subject }: RelationshipFilter,
): NamedObject | undefined {
  const { program } = graph;
  if (resourceType !== undefined && resourceId !== undefined) {
    const members = program.memberIds[program.typeIds.get(resourceType) as number]?.values() ?? [];
    return { object: graph.findObject(resourceType, resourceId), members, isResource: true };
  }
  if (subject?.id === undefined) return undefined;
  const members = program.subjectMembers[program.typeIds.get(subject.type) as number] ?? [];
  return { object: graph.findObject(subject.type, subject.id), members, isResource: false };
}

function* candidates(graph: RelationshipGraph, filter: RelationshipFilter): Generator<number> {
  const named = namedObject(graph, filter);
  if (named !== undefined) {
    yield* edgesOf(graph, named);
    return;
  }
  const { edges } = graph;
  for (let edge = 0; edge < edges.end; edge++) {
    if (edges.left(edge) >= 0) yield edge;
  }
}

function* edgesOf(
  graph: RelationshipGraph,
  { object, members, isResource }: NamedObject,
): Generator<number> {
  if (object < 0) return;
  const { pairs, subjects, resources } = graph;
  const lists = isResource ? subjects : resources;
  for (const member of members) {
    const pair = pairs.find(object, member);
    if (pair < 0) continue;
    for (const list of listsOf(pair)) {
      for (let index = 0; index < lists.length(list); index++) {
        yield edgeAt(graph, pair, lists.item(list, index), isResource);
      }
    }
  }
}

/** The edge between a pair and another one, which is in a list of it. */
function edgeAt(
  { edges }: RelationshipGraph,
  pair: number,
  other: number,
  isResource: boolean,
): number {
  return isResource ? edges.find(pair, other) : edges.find(other, pair);
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
