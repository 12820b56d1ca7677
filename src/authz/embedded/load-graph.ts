import { AuthzError } from "../authz-error.ts";
import type { RelationshipStore } from "../relationship-store.ts";
import type { RequestValidator } from "../validate-request.ts";
import type { Program } from "./program.ts";
import { RelationshipGraph } from "./relationship-graph.ts";

const NAMED = 5;

/**
 * Reads a store into memory.
 *
 * @throws AuthzError FAILED_PRECONDITION where relationships are not of the model, as after it was changed
 */
export async function loadGraph(
  program: Program,
  store: RelationshipStore,
  validator: RequestValidator,
): Promise<RelationshipGraph> {
  const graph = new RelationshipGraph(program);
  const refused: string[] = [];
  let count = 0;
  for await (const batch of store.load()) {
    for (const relationship of batch) {
      try {
        validator.relationship(relationship);
      } catch (error) {
        count++;
        if (refused.length < NAMED) refused.push((error as Error).message);
        continue;
      }
      if (count === 0) graph.add(relationship);
    }
  }
  if (count === 0) return graph;
  const more = count > refused.length ? `; and ${count - refused.length} more` : "";
  throw new AuthzError(
    "FAILED_PRECONDITION",
    `the model does not allow ${count} of the stored relationships: ${refused.join("; ")}${more}`,
  );
}
