import type { v1 } from "@authzed/authzed-node";
import { findGaps, formatGaps, type Model, parseModel } from "../../../model/index.ts";
import { titleOf, whyNotReady } from "../../engine/asked-server.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import type { Readiness } from "../../engine/engine.ts";
import type { CallOptions } from "../../engine/requests.ts";
import type { Connection } from "../client/connection.ts";
import type { SpicedbSession } from "../client/session.ts";
import { refuseSubtractedParentheses } from "../workarounds/subtracted-parentheses.ts";

/** The result of a request to write the schema. */
export interface SchemaWrite {
  /**
   * False if SpiceDB had a schema that contains it: its own, or one that several services share. With
   * `dryRun`, whether it would be written.
   */
  readonly written: boolean;
}

/** How a schema is written. */
export interface SchemaWriteOptions extends CallOptions {
  /** Whether a schema that lacks a part of it may be replaced; true if absent. */
  readonly replace?: boolean;
  /** Whether SpiceDB is only read; false if absent. */
  readonly dryRun?: boolean;
}

/**
 * Writes a schema into SpiceDB, unless SpiceDB's schema contains it with the same meaning.
 *
 * @throws AuthzError INVALID_ARGUMENT if the text is not a model, or SpiceDB would decide it
 * incorrectly; FAILED_PRECONDITION if stored relationships block the change, naming the relation, or
 * if it would replace another schema and may not
 */
export async function writeSchema(
  { connection, freshness }: Pick<SpicedbSession, "connection" | "freshness">,
  schema: string,
  { signal, replace = true, dryRun = false }: SchemaWriteOptions = {},
): Promise<SchemaWrite> {
  const { model, diagnostics } = parseModel(schema, "schema");
  const [first] = diagnostics;
  if (first !== undefined) {
    throw new AuthzError("INVALID_ARGUMENT", `the schema is not valid: ${first.message}`);
  }
  refuseSubtractedParentheses(model);
  const stored = await readSchema(connection, signal);
  if (stored !== undefined) {
    const why = whyNotContained(stored, model);
    if (why === undefined) return { written: false };
    if (!replace) throw new AuthzError("FAILED_PRECONDITION", why);
  }
  if (dryRun) return { written: true };
  // Each state has the schema of its time: an earlier state would be decided by the old schema.
  const wrote = freshness.write();
  let zedToken: string | undefined;
  try {
    const { writtenAt } = await connection.unary<v1.WriteSchemaResponse>(
      "write",
      signal,
      (options, done) => connection.client.writeSchema({ schema }, options, done),
    );
    zedToken = writtenAt?.token;
  } catch (error) {
    throw explainBlocked(error);
  } finally {
    wrote(zedToken);
  }
  return { written: true };
}

/** Whether SpiceDB answers, and has a schema that contains the model. */
export async function schemaReadiness(
  connection: Connection,
  model: Model,
  call: CallOptions = {},
): Promise<Readiness> {
  try {
    const stored = await connection.run(call, ({ signal }) => readSchema(connection, signal));
    if (stored === undefined) {
      return {
        ready: false,
        reason: `${titleOf(connection.server)} has no schema: write the model to it, such as with zed schema write`,
      };
    }
    const why = whyNotContained(stored, model);
    return why === undefined ? { ready: true } : { ready: false, reason: why };
  } catch (error) {
    return { ready: false, reason: whyNotReady(connection.server, error) };
  }
}

/** The schema in SpiceDB; undefined if there is none. */
async function readSchema(
  connection: Connection,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  try {
    const { schemaText } = await connection.unary<v1.ReadSchemaResponse>(
      "read",
      signal,
      (options, done) => connection.client.readSchema({}, options, done),
    );
    return schemaText;
  } catch (error) {
    // NOT_FOUND, the only possible error of an empty request.
    if (error instanceof AuthzError && error.code === "FAILED_PRECONDITION") return undefined;
    throw error;
  }
}

/**
 * Why SpiceDB cannot decide by the model, in words; undefined if its schema contains it. Services
 * that share a SpiceDB each have a part of the schema.
 */
function whyNotContained(schema: string, model: Model): string | undefined {
  const stored = parseModel(schema, "schema in SpiceDB");
  const [first] = stored.diagnostics;
  if (first !== undefined) {
    return `the schema in SpiceDB is not valid here (line ${first.line ?? 1}): ${first.message}`;
  }
  const gaps = findGaps(stored.model, model);
  if (gaps.length > 0) {
    return `the schema in SpiceDB does not contain the service's model: ${formatGaps(gaps)}; write the model of all services that use SpiceDB (svc-access model merge makes it) with zed schema write`;
  }
  try {
    // SpiceDB may decide only one of two equivalent texts correctly.
    refuseSubtractedParentheses({ ...stored.model, definitions: ownOf(stored.model, model) });
  } catch (error) {
    return `the schema in SpiceDB: ${error instanceof Error ? error.message : "it would be decided wrongly"}`;
  }
  return undefined;
}

/** The definitions that the model has, as they are stored. */
function ownOf({ definitions }: Model, model: Model): Model["definitions"] {
  return new Map([...definitions].filter(([name]) => model.definitions.has(name)));
}

/** SpiceDB refuses a change that stored relationships contradict; it names one of them. */
function explainBlocked(error: unknown): unknown {
  if (!(error instanceof AuthzError) || error.code !== "INVALID_ARGUMENT") return error;
  if (!/relationship/.test(error.message)) return error;
  return new AuthzError(
    "FAILED_PRECONDITION",
    `stored relationships block the change of the schema: ${error.message}`,
  );
}
