import { createEmbeddedEngine, createMemoryStore } from "../../authz/embedded/index.ts";
import type { AuthorizationEngine } from "../../authz/engine/engine.ts";
import type { Model } from "../../model/index.ts";
import { SPICEDB_OBJECT_IDS } from "../../model/object-id.ts";

/** An in-memory engine without relationships, for the time of the command. */
export function createEngine(model: Model): Promise<AuthorizationEngine> {
  // The files are written for SpiceDB, so ids follow its rules.
  return createEmbeddedEngine({
    model,
    store: createMemoryStore(),
    objectIds: SPICEDB_OBJECT_IDS,
  });
}
