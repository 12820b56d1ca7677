import type { Relationship } from "../../../model/relationship.ts";
import type { RelationshipGraph } from "../graph/relationship-graph.ts";
import { NO_MEMBER, type Recursion } from "../program/program.ts";
import { type Computed, computedFrom, computedInto } from "./computed.ts";

const SHOWN = 12;

/**
 * A cycle that relationships of a graph take part in, as the path of what is
 * computed from what, or undefined. The relationships are in the graph already.
 *
 * Two walks for all of them, only over members that may recur by the model: one down and one up. A
 * cycle is in both, so the walk that ends first decides, and a write at either end of a long chain
 * costs little.
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

/** Whether a relationship can be part of a cycle at all. */
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

/** A node on the path of a walk, and what comes next there. */
interface Step {
  readonly node: Computed;
  readonly neighbours: Iterator<Computed | undefined>;
}

/**
 * A depth-first walk over everything that some nodes lead to, one neighbour at a time, so that two
 * walks can run side by side and the shorter one decides.
 */
class CycleWalk {
  readonly #starts: readonly Computed[];
  readonly #keyOf: (node: Computed) => number;
  readonly #neighboursOf: (node: Computed) => Iterator<Computed | undefined>;
  readonly #startKeys: ReadonlySet<number>;
  readonly #path: Step[] = [];
  readonly #open = new Set<number>();
  readonly #done = new Set<number>();
  #next = 0;

  constructor(
    starts: readonly Computed[],
    keyOf: (node: Computed) => number,
    neighboursOf: (node: Computed) => Iterator<Computed | undefined>,
  ) {
    this.#starts = starts;
    this.#keyOf = keyOf;
    this.#neighboursOf = neighboursOf;
    this.#startKeys = new Set(starts.map(keyOf));
  }

  /**
   * Visits one neighbour; returns a cycle that contains a start node, or whether there is more to
   * visit.
   */
  step(): readonly Computed[] | "more" | "ended" {
    const top = this.#path.at(-1);
    if (top === undefined) {
      const start = this.#starts[this.#next++];
      if (start === undefined) return "ended";
      this.#enter(start);
      return "more";
    }
    const { value: node, done } = top.neighbours.next();
    if (done === true) {
      this.#path.pop();
      const key = this.#keyOf(top.node);
      this.#open.delete(key);
      this.#done.add(key);
    } else if (node !== undefined) {
      if (this.#open.has(this.#keyOf(node))) return this.#cycleTo(node) ?? "more";
      this.#enter(node);
    }
    return "more";
  }

  #enter(node: Computed): void {
    const key = this.#keyOf(node);
    if (this.#open.has(key) || this.#done.has(key)) return;
    this.#open.add(key);
    this.#path.push({ node, neighbours: this.#neighboursOf(node) });
  }

  /**
   * From a node of the path back to it; undefined if the cycle existed before, because it contains
   * no start node.
   */
  #cycleTo(node: Computed): readonly Computed[] | undefined {
    const key = this.#keyOf(node);
    const from = this.#path.findIndex((other) => this.#keyOf(other.node) === key);
    const cycle = this.#path.slice(from).map((step) => step.node);
    return cycle.some((other) => this.#startKeys.has(this.#keyOf(other)))
      ? [...cycle, node]
      : undefined;
  }
}
