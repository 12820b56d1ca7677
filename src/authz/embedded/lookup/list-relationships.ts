import type { Relationship, RelationshipFilter } from "../../../model/relationship.ts";
import { formatRelationship } from "../../../model/relationship-text.ts";
import { findEdges } from "../graph/find-edges.ts";
import type { RelationshipGraph } from "../graph/relationship-graph.ts";
import type { Steps } from "../graph/turns.ts";
import { tooManyResults } from "./listings.ts";

/** How many relationships are read before a pause is possible. */
const EDGES_A_STEP = 1024;

/**
 * The relationships that match a filter, sorted as they are written.
 *
 * @throws AuthzError RESOURCE_EXHAUSTED where there are more than `most`
 */
export function* listRelationships(
  graph: RelationshipGraph,
  filter: RelationshipFilter,
  most: number,
): Steps<Relationship[]> {
  const found: { readonly key: string; readonly relationship: Relationship }[] = [];
  let steps = 0;
  for (const edge of findEdges(graph, filter)) {
    if (++steps % EDGES_A_STEP === 0) yield;
    const relationship = graph.relationshipOf(edge);
    if (found.push({ key: formatRelationship(relationship), relationship }) > most) {
      throw tooManyResults(most);
    }
  }
  found.sort(({ key: left }, { key: right }) => (left < right ? -1 : 1));
  return found.map(({ relationship }) => relationship);
}
