import type { SpicedbEngine, SpicedbEngineOptions } from "./spicedb/index.ts";

/**
 * An engine over a SpiceDB of its own. It connects when it is first asked: a SpiceDB that is down
 * is UNAVAILABLE at each call, until it is back.
 *
 * The client is loaded only here: it is large, and most who import this package have the other
 * engine.
 */
export async function createSpicedbEngine(options: SpicedbEngineOptions): Promise<SpicedbEngine> {
  const spicedb = await import("./spicedb/index.ts");
  return spicedb.createSpicedbEngine(options);
}
