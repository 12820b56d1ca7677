import type { Model } from "../../model/index.ts";
import type { ObjectIdRule } from "../../model/object-id.ts";
import type { AuthorizationEngine } from "../engine/engine.ts";
import type { RelationshipStore } from "../engine/relationship-store.ts";
import { RequestValidator } from "../engine/validate-request.ts";
import { EmbeddedEngine } from "./embedded-engine.ts";
import { loadGraph } from "./graph/load-graph.ts";
import { MAX_RESULTS } from "./lookup/listings.ts";
import { compileProgram } from "./program/compile-program.ts";

/** What an embedded engine is made of. */
export interface EmbeddedEngineOptions {
  /** A model without errors, caveats and expirations. */
  readonly model: Model;
  /** The file that the model is from, for messages. */
  readonly modelFile?: string | undefined;
  /** Where the relationships are kept; the engine closes it. */
  readonly store: RelationshipStore;
  /** Which object ids there may be; those of AUTHZ-6 in docs/requirements.md where absent. */
  readonly objectIds?: ObjectIdRule;
  /** The most results of a listing, over all of its pages; 1,000,000 where absent. More is RESOURCE_EXHAUSTED. */
  readonly maxResults?: number;
}

/**
 * An engine in this process: all relationships in memory, over a store that
 * keeps them. It always reads at head. Where it is refused, the store is closed.
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
    // Else this process would hold the store, and nobody could close it. Why it was refused is what counts.
    await store.close().catch(() => undefined);
    throw error;
  }
}
