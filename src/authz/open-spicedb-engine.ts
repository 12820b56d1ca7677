import type { SpicedbEngine, SpicedbEngineOptions } from "./spicedb/index.ts";

/**
 * An engine over a SpiceDB of its own. It connects when it is first asked: a SpiceDB that is down
 * is UNAVAILABLE at each call, until it is back.
 *
 * The client is loaded only here: it is large, and most who import this package have the other
 * engine.
 *
 * @throws AuthzError INVALID_ARGUMENT if the options are wrong, or the model subtracts parentheses,
 * which SpiceDB misreads; an Error that says what to install where `@authzed/authzed-node` is not
 *
 * @example
 * ```ts
 * const engine = await createSpicedbEngine({
 *   endpoint: "spicedb.internal:50051",
 *   token: readFileSync("/run/secrets/spicedb-key", "utf8").trim(),
 *   ca: readFileSync("ca.pem"),
 *   model,
 * });
 * await engine.writeSchema(readFileSync("model.zed", "utf8"));
 * ```
 */
export async function createSpicedbEngine(options: SpicedbEngineOptions): Promise<SpicedbEngine> {
  const spicedb = await import("./spicedb/index.ts");
  return spicedb.createSpicedbEngine(options);
}
