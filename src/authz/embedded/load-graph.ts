import { AuthzError } from "../authz-error.ts";
import { formatMisfit, misfitOf } from "../misfit.ts";
import type { RelationshipStore } from "../relationship-store.ts";
import type { RequestValidator } from "../validate-request.ts";
import type { Program } from "./program.ts";
import { RelationshipGraph } from "./relationship-graph.ts";

/** How many relationships of them a message names. */
const NAMED = 10;

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
      const misfit = misfitOf(validator, relationship);
      if (misfit !== undefined) {
        count++;
        if (refused.length < NAMED) refused.push(formatMisfit(misfit));
        continue;
      }
      if (count === 0) graph.add(relationship);
    }
  }
  if (count === 0) return graph;
  const more = count > refused.length ? `; and ${count - refused.length} more` : "";
  const flags = `--store ${store.address ?? "<file or URL>"} --model <model> --misfit`;
  throw new AuthzError(
    "FAILED_PRECONDITION",
    `the model does not allow ${count} of the stored relationships; use a model that allows them, or list them with "svc-access relationship list ${flags}" and remove them with "svc-access relationship delete ${flags} --yes": ${refused.join("; ")}${more}`,
  );
}
