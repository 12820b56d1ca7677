import type { Relationship } from "../relationship.ts";
import { NO_MEMBER, type Recursion } from "./program.ts";
import type { RelationshipGraph } from "./relationship-graph.ts";

/** An object's member that is computed from others. */
interface Computed {
  readonly object: number;
  readonly member: number;
}

const SHOWN = 12;

/**
 * A cycle that relationships of a graph take part in, as the path of what is
 * computed from what, or undefined. The relationships are in the graph already.
 * One walk for all of them, over what may recur by the model only.
 */
export function findCycle(
  graph: RelationshipGraph,
  added: readonly Relationship[],
): string | undefined {
  const members = graph.program.members.length;
  const keyOf = ({ object, member }: Computed) => object * members + member;
  const done = new Set<number>();
  for (const start of added.flatMap((relationship) => affected(graph, relationship))) {
    if (done.has(keyOf(start))) continue;
    const path = [{ node: start, next: 0, below: computedFrom(graph, start) }];
    const open = new Set([keyOf(start)]);
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const node = step.below[step.next++];
      if (node === undefined) {
        path.pop();
        open.delete(keyOf(step.node));
        done.add(keyOf(step.node));
      } else if (open.has(keyOf(node))) {
        const from = path.findIndex((other) => keyOf(other.node) === keyOf(node));
        return describe(graph, [...path.slice(from).map(({ node }) => node), node]);
      } else if (!done.has(keyOf(node))) {
        path.push({ node, next: 0, below: computedFrom(graph, node) });
        open.add(keyOf(node));
      }
    }
  }
  return undefined;
}

/** Whether a relationship can be a part of a cycle at all. */
export function mayCloseCycle(graph: RelationshipGraph, relationship: Relationship): boolean {
  const { resource, relation, subject } = relationship;
  const { typeIds, memberIds } = graph.program;
  const type = typeIds.get(resource.type) as number;
  const member = memberIds[type]?.get(relation) as number;
  return (
    recursive(graph, type, member, graph.memberOf(subject), typeIds.get(subject.type)).length > 0
  );
}

/** What is computed from other things because of a relationship. */
function affected(
  graph: RelationshipGraph,
  { resource, relation, subject }: Relationship,
): Computed[] {
  const object = graph.findObject(resource.type, resource.id);
  const { typeIds, memberIds } = graph.program;
  const type = typeIds.get(resource.type) as number;
  const member = memberIds[type]?.get(relation) as number;
  return recursive(graph, type, member, graph.memberOf(subject), typeIds.get(subject.type)).map(
    (member) => ({ object, member }),
  );
}

/** The members of a type that recur through such a relationship. */
function recursive(
  { program }: RelationshipGraph,
  type: number,
  relation: number,
  subjectMember: number,
  subjectType: number | undefined,
): number[] {
  const found: number[] = [];
  for (const member of program.memberIds[type]?.values() ?? []) {
    const { usersets, arrows } = program.recursion[member] as Recursion;
    const through =
      (member === relation && subjectMember !== NO_MEMBER && usersets.has(subjectMember)) ||
      arrows.some(
        (arrow) => arrow.relation === relation && (arrow.targets[subjectType ?? -1] ?? -1) >= 0,
      );
    if (through) found.push(member);
  }
  return found;
}

function computedFrom(graph: RelationshipGraph, { object, member }: Computed): Computed[] {
  const { program, pairs, plain, usersets, objects } = graph;
  const recursion = program.recursion[member] as Recursion;
  const found: Computed[] = recursion.references.map((member) => ({ object, member }));
  if (recursion.usersets.size > 0) {
    const pair = pairs.find(object, member);
    for (let index = 0; pair >= 0 && index < usersets.length(pair); index++) {
      const to = usersets.item(pair, index);
      const userset = pairs.right(to);
      if (recursion.usersets.has(userset)) {
        found.push({ object: pairs.left(to), member: userset });
      }
    }
  }
  for (const { relation, targets } of recursion.arrows) {
    const pair = pairs.find(object, relation);
    if (pair < 0) continue;
    for (const list of [plain, usersets]) {
      for (let index = 0; index < list.length(pair); index++) {
        const to = list.item(pair, index);
        const related = pairs.left(to);
        const target = targets[objects.types[related] as number] as number;
        if (target >= 0) found.push({ object: related, member: target });
      }
    }
  }
  return found;
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
