import { createEmbeddedEngine, createMemoryStore } from "../authz/embedded/index.ts";
import type { AuthorizationEngine } from "../authz/engine/engine.ts";
import { MAX_UPDATES } from "../authz/engine/requests.ts";
import { type Model, readModel, readModelFile } from "../model/index.ts";
import type { Relationship } from "../model/relationship.ts";
import { readRelationship } from "../model/relationship-text.ts";

/** A relationship, or its text: `item:first#owner@user:alice`. */
export type TestRelationship = string | Relationship;

/**
 * Writes any number of relationships.
 *
 * @throws TypeError if a text is not a relationship; AuthzError if one does not fit the model
 */
export async function writeAll(
  engine: AuthorizationEngine,
  relationships: Iterable<TestRelationship>,
): Promise<void> {
  const updates = [...relationships].map((one) => {
    return { operation: "TOUCH" as const, relationship: relationshipOf(one) };
  });
  for (let start = 0; start < updates.length; start += MAX_UPDATES) {
    await engine.writeRelationships({ updates: updates.slice(start, start + MAX_UPDATES) });
  }
}

function relationshipOf(given: TestRelationship): Relationship {
  if (typeof given !== "string") return given;
  const { relationship, problem } = readRelationship(given);
  if (problem !== undefined) throw new TypeError(problem);
  return relationship;
}

/** What an engine for a test is made of: a model, as a file or as text. */
export interface TestEngineOptions {
  /** The file of the authorization model. */
  readonly model?: string;
  /** The text of the model, in place of a file. */
  readonly modelText?: string;
  /** The relationships to begin with, such as `item:first#owner@user:alice`. */
  readonly relationships?: Iterable<TestRelationship>;
}

/** An engine that is closed at the end of a block: `await using engine = await testEngine(…)`. */
export type TestEngine = AuthorizationEngine & AsyncDisposable;

/**
 * An engine in memory, for testing a handler that uses it.
 *
 * @throws TypeError if there is no model, or it is wrong; AuthzError where a relationship does not fit it
 *
 * @example
 * ```ts
 * await using engine = await testEngine({
 *   model: "model.zed",
 *   relationships: ["item:first#owner@user:alice"],
 * });
 * const service = handlers(engine);
 * ```
 */
export async function testEngine(options: TestEngineOptions): Promise<TestEngine> {
  const { model: file, modelText } = options;
  if ((file === undefined) === (modelText === undefined)) {
    throw new TypeError("testEngine: set model or modelText");
  }
  const { model, problems } =
    modelText === undefined ? readModelFile(file as string) : readModel(modelText, "modelText");
  if (problems !== undefined) throw new TypeError(problems.join("\n"));
  const engine = await engineWith(model, options.relationships ?? []);
  return Object.assign(engine, { [Symbol.asyncDispose]: () => engine.close() });
}

/** @throws AuthzError if a relationship does not fit the model */
export async function engineWith(
  model: Model,
  relationships: Iterable<TestRelationship>,
): Promise<AuthorizationEngine> {
  const engine = await createEmbeddedEngine({ model, store: createMemoryStore() });
  try {
    await writeAll(engine, relationships);
  } catch (error) {
    await engine.close();
    throw error;
  }
  return engine;
}
