import { printable } from "../../common/printable.ts";
import type { Model } from "../../model/index.ts";
import type { ObjectIdRule } from "../../model/object-id.ts";
import { AuthzError } from "../engine/authz-error.ts";
import type { AuthorizationEngine } from "../engine/engine.ts";
import type { RelationshipStore } from "../engine/relationship-store.ts";
import {
  disallowedRelationship,
  formatDisallowed,
  RequestValidator,
} from "../engine/validate-request.ts";
import { EmbeddedEngine } from "./embedded-engine.ts";
import { RelationshipGraph } from "./graph/relationship-graph.ts";
import { MAX_RESULTS } from "./lookup/listings.ts";
import { compileProgram } from "./program/compile-program.ts";
import type { Program } from "./program/program.ts";

/** The options of an embedded engine. */
export interface EmbeddedEngineOptions {
  /** A model without errors, caveats and expirations. */
  readonly model: Model;
  /** The file of the model, for messages. */
  readonly modelFile?: string | undefined;
  /** Where the relationships are stored; the engine closes it. */
  readonly store: RelationshipStore;
  /** Which object ids are valid; by default those of AUTHZ-6 in docs/requirements.md. */
  readonly objectIds?: ObjectIdRule;
  /** The most results of a listing, over all of its pages; 1,000,000 if absent. More is RESOURCE_EXHAUSTED. */
  readonly maxResults?: number;
}

/**
 * An engine in this process: all relationships in memory, over a durable store. It always reads at
 * head. If creation fails, the store is closed.
 *
 * @example
 * ```ts
 * const engine = await createEmbeddedEngine({
 *   model,
 *   store: await openSqliteStore({ file: "relationships.db" }),
 * });
 * ```
 *
 * @throws AuthzError UNIMPLEMENTED for a model with caveats or expirations; FAILED_PRECONDITION
 * where the store holds relationships that the model does not allow
 */
export async function createEmbeddedEngine(
  options: EmbeddedEngineOptions,
): Promise<AuthorizationEngine> {
  const { model, modelFile, store, objectIds, maxResults = MAX_RESULTS } = options;
  try {
    const validator = new RequestValidator(model, objectIds);
    const graph = await loadGraph(compileProgram(model), store, validator, modelFile);
    return new EmbeddedEngine(model, store, validator, graph, maxResults);
  } catch (error) {
    // Otherwise this process would hold the store, and nobody could close it. The reason of the
    // refusal is the error to throw.
    await store.close().catch(() => undefined);
    throw error;
  }
}

/** How many relationships of them a message names. */
const NAMED = 10;

/**
 * Reads a store into memory.
 *
 * @param modelFile the file of the model, for messages
 * @throws AuthzError FAILED_PRECONDITION if the model does not allow some relationships, such as
 * after a change
 */
async function loadGraph(
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
  const flags = `${placeOf(store, modelFile)} --misfit`;
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

/** The flags that select a store. A URL lacks the password, which the configuration of the service has. */
function placeOf({ address }: RelationshipStore, modelFile: string | undefined): string {
  if (address?.startsWith("postgres://")) return "--config service.yaml";
  return `--store ${inShell(address, "<file or URL>")} --model ${inShell(modelFile, "<file>")}`;
}

/** An argument in shell syntax, quoted only if needed; a placeholder if it is absent. */
function inShell(text: string | undefined, placeholder: string): string {
  if (text === undefined) return placeholder;
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
