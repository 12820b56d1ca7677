import { createEmbeddedEngine, createMemoryStore } from "../../authz/embedded/index.ts";
import type { AuthorizationEngine } from "../../authz/engine/engine.ts";
import type { Model } from "../../model/index.ts";
import { SPICEDB_OBJECT_IDS } from "../../model/object-id.ts";

/** An engine in memory, without relationships, that lives as long as the command. */
export function createEngine(model: Model): Promise<AuthorizationEngine> {
  // Files are written for SpiceDB, so its own ids count.
  return createEmbeddedEngine({
    model,
    store: createMemoryStore(),
    objectIds: SPICEDB_OBJECT_IDS,
  });
}
