import type { Relationship } from "../relationship.ts";
import { type Computed, computedFrom, computedInto } from "./computed.ts";
import { CycleWalk } from "./cycle-walk.ts";
import { NO_MEMBER } from "./no-member.ts";
import type { Recursion } from "./program.ts";
import type { RelationshipGraph } from "./relationship-graph.ts";

const SHOWN = 12;

/**
 * A cycle that relationships of a graph take part in, as the path of what is
 * computed from what, or undefined. The relationships are in the graph already.
 *
 * Two walks for all of them, over what may recur by the model only: to what is
 * below them and to what is above. A cycle is in both, so the walk that ends
 * first decides, and a write at either end of a long chain costs little.
 *
 * @param onStep called for every step of a walk
 */
export function findCycle(
  graph: RelationshipGraph,
  added: readonly Relationship[],
  onStep?: () => void,
): string | undefined {
  const members = graph.program.members.length;
  const keyOf = ({ object, member }: Computed) => object * members + member;
  const starts = added.flatMap((relationship) => affected(graph, relationship));
  const below = new CycleWalk(starts, keyOf, (node) => computedFrom(graph, node));
  const above = new CycleWalk(starts, keyOf, (node) => computedInto(graph, node));
  for (;;) {
    for (const walk of [below, above]) {
      onStep?.();
      const found = walk.step();
      if (found === "more") continue;
      if (found === "ended") return undefined;
      return describe(graph, walk === below ? found : found.toReversed());
    }
  }
}

/** Whether a relationship can be a part of a cycle at all. */
export function mayCloseCycle(graph: RelationshipGraph, relationship: Relationship): boolean {
  for (const _ of recursive(graph, relationship)) return true;
  return false;
}

/** What is computed from other things because of a relationship. */
function affected(graph: RelationshipGraph, relationship: Relationship): Computed[] {
  const { type, id } = relationship.resource;
  const object = graph.findObject(type, id);
  return [...recursive(graph, relationship)].map((member) => ({ object, member }));
}

/** The members of a relationship's resource that recur through it. */
function* recursive(
  graph: RelationshipGraph,
  { resource, relation: name, subject }: Relationship,
): Generator<number> {
  const { typeIds, memberIds, recursion, recurringRelations } = graph.program;
  const members = memberIds[typeIds.get(resource.type) as number];
  const relation = members?.get(name) as number;
  if (members === undefined || recurringRelations[relation] === 0) return;
  const subjectType = typeIds.get(subject.type) ?? -1;
  const subjectMember = graph.memberOf(subject);
  for (const member of members.values()) {
    const { usersets, arrows } = recursion[member] as Recursion;
    const through =
      (member === relation && subjectMember !== NO_MEMBER && usersets.has(subjectMember)) ||
      arrows.some(
        (arrow) => arrow.relation === relation && (arrow.targets[subjectType] ?? -1) >= 0,
      );
    if (through) yield member;
  }
}

function describe(graph: RelationshipGraph, path: readonly Computed[]): string {
  const names = path.map(({ object, member }) => {
    const { type, id } = graph.referenceOf(object);
    return `${type}:${id}#${graph.memberName(member)}`;
  });
  if (names.length > SHOWN) {
    names.splice(SHOWN / 2, names.length - SHOWN, `… ${names.length - SHOWN} more …`);
  }
  return names.join(" > ");
}
