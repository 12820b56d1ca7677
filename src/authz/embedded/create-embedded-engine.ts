import type { Model } from "../../model/index.ts";
import type { ObjectIdRule } from "../../model/object-id.ts";
import type { AuthorizationEngine } from "../engine/engine.ts";
import type { RelationshipStore } from "../engine/relationship-store.ts";
import { RequestValidator } from "../engine/validate-request.ts";
import { EmbeddedEngine } from "./embedded-engine.ts";
import { loadGraph } from "./graph/load-graph.ts";
import { MAX_RESULTS } from "./lookup/listings.ts";
import { compileProgram } from "./program/compile-program.ts";

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
  /** The most results of a listing, over all of its pages; 1,000,000 where absent. More is RESOURCE_EXHAUSTED. */
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
