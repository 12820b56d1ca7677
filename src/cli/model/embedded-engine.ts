import { createEmbeddedEngine, createMemoryStore } from "../../authz/embedded/index.ts";
import type { AuthorizationEngine } from "../../authz/engine.ts";
import { SPICEDB_OBJECT_IDS } from "../../authz/object-id.ts";
import type { Model } from "../../model/index.ts";

/** An engine in memory, without relationships, that lives as long as the command. */
export function createEngine(model: Model): Promise<AuthorizationEngine> {
  // Files are written for SpiceDB, so its own ids count.
  return createEmbeddedEngine({
    model,
    store: createMemoryStore(),
    objectIds: SPICEDB_OBJECT_IDS,
  });
}
