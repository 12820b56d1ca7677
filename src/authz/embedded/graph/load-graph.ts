import { printable } from "../../../common/printable.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import { disallowedRelationship, formatDisallowed } from "../../engine/disallowed-relationship.ts";
import type { RelationshipStore } from "../../engine/relationship-store.ts";
import type { RequestValidator } from "../../engine/validate-request.ts";
import type { Program } from "../program/program.ts";
import { RelationshipGraph } from "./relationship-graph.ts";

/** How many relationships of them a message names. */
const NAMED = 10;

/**
 * Reads a store into memory.
 *
 * @param modelFile the file of the model, for messages
 * @throws AuthzError FAILED_PRECONDITION if the model does not allow some relationships, such as
 * after a change
 */
export async function loadGraph(
  program: Program,
  store: RelationshipStore,
  validator: RequestValidator,
  modelFile?: string,
): Promise<RelationshipGraph> {
  const graph = new RelationshipGraph(program);
  const refused: string[] = [];
  let count = 0;
  for await (const batch of store.load()) {
    for (const relationship of batch) {
      const disallowed = disallowedRelationship(validator, relationship);
      if (disallowed !== undefined) {
        count++;
        if (refused.length < NAMED) refused.push(formatDisallowed(disallowed));
        continue;
      }
      if (count === 0) graph.add(relationship);
    }
  }
  if (count === 0) return graph;
  const flags = `--store ${inShell(store.address, "<file or URL>")} --model ${inShell(modelFile, "<file>")} --misfit`;
  const lines = [
    `the model does not allow ${count} of the stored relationships; use a model that allows them, or list them and remove them with`,
    `  svc-access relationship list ${flags}`,
    `  svc-access relationship delete ${flags} --yes`,
    // Stored text must not add lines.
    ...refused.map((line) => `- ${printable(line)}`),
  ];
  if (count > refused.length) lines.push(`- and ${count - refused.length} more`);
  throw new AuthzError("FAILED_PRECONDITION", lines.join("\n"));
}

/** An argument in shell syntax, quoted only if needed; a placeholder if it is absent. */
function inShell(text: string | undefined, placeholder: string): string {
  if (text === undefined) return placeholder;
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
