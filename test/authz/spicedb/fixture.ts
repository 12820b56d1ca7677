import { afterAll, beforeAll } from "vitest";
import { createSpicedbEngine, type SpicedbEngine } from "../../../src/authz/spicedb/index.ts";
import { type SpicedbServer, startSpicedb } from "../../support/spicedb.ts";
import { modelOf } from "../contract/schema.ts";

export { modelOf, relationship, request, SCHEMA, updates } from "../contract/schema.ts";

/** A SpiceDB and its engine, for all tests of a file. */
export function useSpicedb(schema: string): { engine: SpicedbEngine; server: SpicedbServer } {
  const used: Partial<{ engine: SpicedbEngine; server: SpicedbServer }> = {};
  beforeAll(async () => {
    used.server = await startSpicedb();
    used.engine = await engineOf(used.server, schema);
    await used.engine.writeSchema(schema);
  });
  afterAll(async () => {
    await used.engine?.close();
    await used.server?.stop();
  });
  return used as { engine: SpicedbEngine; server: SpicedbServer };
}

/** An engine over a server. */
export function engineOf(
  { endpoint, token }: SpicedbServer,
  schema: string,
  // Long enough for a SpiceDB on a busy machine.
  deadlineMs = 30_000,
): Promise<SpicedbEngine> {
  return createSpicedbEngine({
    endpoint,
    token,
    insecure: true,
    model: modelOf(schema),
    deadlineMs,
  });
}
