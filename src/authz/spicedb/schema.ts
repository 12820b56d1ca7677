import type { v1 } from "@authzed/authzed-node";
import { type Model, parseModel } from "../../model/index.ts";
import { AuthzError } from "../authz-error.ts";
import type { CallOptions, Readiness } from "../engine.ts";
import { refuseConfusedPermissions } from "./confused-permissions.ts";
import type { Connection } from "./connection.ts";
import { modelMeaning } from "./model-meaning.ts";
import type { Session } from "./session.ts";

/** What became of a request to write the schema. */
export interface SchemaWrite {
  /** False where SpiceDB had a schema of the same meaning. */
  readonly written: boolean;
}

/**
 * Writes a schema into SpiceDB, unless the one that is there means the same.
 *
 * @throws AuthzError INVALID_ARGUMENT where the text is no model, or one that SpiceDB would
 * decide wrongly; FAILED_PRECONDITION where stored
 * relationships block the change, naming the relation
 */
export async function writeSchema(
  { connection, freshness }: Pick<Session, "connection" | "freshness">,
  schema: string,
  { signal }: CallOptions = {},
): Promise<SchemaWrite> {
  const { model, diagnostics } = parseModel(schema, "schema");
  const [first] = diagnostics;
  if (first !== undefined) {
    throw new AuthzError("INVALID_ARGUMENT", `the schema is not valid: ${first.message}`);
  }
  refuseConfusedPermissions(model);
  const stored = await readSchema(connection, signal);
  if (stored !== undefined && meansTheSame(stored, model)) return { written: false };
  // A state has the schema of its time: one of before would be decided by the old one.
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

/** Whether SpiceDB answers, and has the schema that the model is of. */
export async function schemaReadiness(connection: Connection, model: Model): Promise<Readiness> {
  try {
    const stored = await connection.run({}, ({ signal }) => readSchema(connection, signal));
    if (stored === undefined) return { ready: false, reason: "SpiceDB has no schema" };
    return meansTheSame(stored, model)
      ? { ready: true }
      : { ready: false, reason: "the schema in SpiceDB is not the model's" };
  } catch (error) {
    return { ready: false, reason: error instanceof Error ? error.message : "SpiceDB fails" };
  }
}

/** The schema in SpiceDB; undefined where there is none. */
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
    // NOT_FOUND, the only thing that can be wrong with a request that is empty.
    if (error instanceof AuthzError && error.code === "FAILED_PRECONDITION") return undefined;
    throw error;
  }
}

function meansTheSame(schema: string, model: Model): boolean {
  const stored = parseModel(schema, "schema in SpiceDB");
  return stored.diagnostics.length === 0 && modelMeaning(stored.model) === modelMeaning(model);
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
