import { formatRelationship } from "../../../model/relationship-text.ts";
import type { RelationshipGraph } from "../graph/relationship-graph.ts";
import type { Steps } from "../graph/turns.ts";
import { orderOf, sortInTurns } from "./sort-in-turns.ts";

/** How many edges are read before a pause is possible. */
const EDGES_A_STEP = 1024;

/**
 * Sorts edges in the order of their relationships' texts. Their resources are compared first, where
 * the graph has them: they decide most often, and `#`, which ends them in a text, is less than every
 * character of an id. So texts are made of resources with several relationships only.
 *
 * @returns the array, or another one of the same length
 */
export function* sortEdges(graph: RelationshipGraph, edges: Uint32Array): Steps<Uint32Array> {
  const resourceOf = (edge: number) => graph.pairs.object(graph.edges.left(edge));
  const { objects, program } = graph;
  const typeOf = (object: number) => `${program.typeNames[objects.types[object] as number]}:`;
  const sorted = yield* sortInTurns(edges, (left, right) => {
    const one = resourceOf(left);
    const other = resourceOf(right);
    if (one === other) return 0;
    if (objects.types[one] === objects.types[other]) return objects.compareIds(one, other);
    return typeOf(one) < typeOf(other) ? -1 : 1;
  });
  for (let begin = 0, end = 0; begin < sorted.length; begin = end) {
    const resource = resourceOf(sorted[begin] as number);
    do {
      if (++end % EDGES_A_STEP === 0) yield;
    } while (end < sorted.length && resourceOf(sorted[end] as number) === resource);
    if (end - begin > 1) yield* sortByText(graph, sorted.subarray(begin, end));
  }
  return sorted;
}

/** Sorts the edges of one resource in place. */
function* sortByText(graph: RelationshipGraph, edges: Uint32Array): Steps<void> {
  const texts: string[] = [];
  for (const edge of edges) {
    if (texts.push(formatRelationship(graph.relationshipOf(edge))) % EDGES_A_STEP === 0) yield;
  }
  const order = yield* orderOf(texts);
  edges.set(order.map((index) => edges[index] as number));
}
