import { listsOf, type RelationshipGraph, usersetsOf } from "../graph/relationship-graph.ts";
import type { Recursion, RecursionInto } from "../program/program.ts";

/** An object's member that is computed from others. */
export interface Computed {
  readonly object: number;
  readonly member: number;
}

/**
 * What a member of an object is computed from, as far as the model lets it recur. Items that were
 * examined but do not count are `undefined`, so that the caller sees every step of the work.
 */
export function* computedFrom(
  graph: RelationshipGraph,
  { object, member }: Computed,
): Generator<Computed | undefined> {
  const { program, pairs, subjects, objects } = graph;
  const recursion = program.recursion[member] as Recursion;
  for (const member of recursion.references) yield { object, member };
  if (recursion.usersets.size > 0) {
    const pair = pairs.find(object, member);
    const list = usersetsOf(pair);
    for (let index = 0; pair >= 0 && index < subjects.length(list); index++) {
      const to = subjects.item(list, index);
      const userset = pairs.member(to);
      yield recursion.usersets.has(userset)
        ? { object: pairs.object(to), member: userset }
        : undefined;
    }
  }
  for (const { relation, targets } of recursion.arrows) {
    const pair = pairs.find(object, relation);
    if (pair < 0) continue;
    for (const list of listsOf(pair)) {
      for (let index = 0; index < subjects.length(list); index++) {
        const related = pairs.object(subjects.item(list, index));
        const target = targets[objects.types[related] as number] as number;
        yield target >= 0 ? { object: related, member: target } : undefined;
      }
    }
  }
}

/** What is computed from a member of an object: the inverse of `computedFrom`. */
export function* computedInto(
  graph: RelationshipGraph,
  { object, member }: Computed,
): Generator<Computed | undefined> {
  const { program, pairs, resources, objects } = graph;
  const into = program.recursionInto[member] as RecursionInto;
  for (const member of into.references) yield { object, member };
  if (into.relations.size > 0) {
    const pair = pairs.find(object, member);
    for (const list of pair < 0 ? [] : listsOf(pair)) {
      for (let index = 0; index < resources.length(list); index++) {
        const from = resources.item(list, index);
        const relation = pairs.member(from);
        yield into.relations.has(relation)
          ? { object: pairs.object(from), member: relation }
          : undefined;
      }
    }
  }
  if (into.arrows.length === 0) return;
  // An arrow goes to the object of a userset too.
  for (const as of program.subjectMembers[objects.types[object] as number] ?? []) {
    const pair = pairs.find(object, as);
    for (const list of pair < 0 ? [] : listsOf(pair)) {
      for (let index = 0; index < resources.length(list); index++) {
        const from = resources.item(list, index);
        for (const { relation, permission } of into.arrows) {
          yield pairs.member(from) === relation
            ? { object: pairs.object(from), member: permission }
            : undefined;
        }
      }
    }
  }
}
