import { createEmbeddedEngine, createMemoryStore } from "../authz/embedded/index.ts";
import type { AuthorizationEngine } from "../authz/engine.ts";
import { type Model, readModel, readModelFile } from "../model/index.ts";
import { type TestRelationship, writeAll } from "./test-relationships.ts";

/** What an engine for a test is made of. */
export interface TestEngineOptions {
  /** The file of the authorization model. */
  readonly model?: string;
  /** The text of the model, in place of a file. */
  readonly modelText?: string;
  /** The relationships to begin with, such as `item:first#owner@user:alice`. */
  readonly relationships?: Iterable<TestRelationship>;
}

/** An engine that a block may end: `await using engine = await testEngine(…)`. */
export type TestEngine = AuthorizationEngine & AsyncDisposable;

/**
 * An engine in memory, for the test of a handler that asks it.
 *
 * @throws TypeError where there is no model, or it is wrong; AuthzError where a relationship does not fit it
 */
export async function testEngine(options: TestEngineOptions): Promise<TestEngine> {
  const { model: file, modelText } = options;
  if ((file === undefined) === (modelText === undefined)) {
    throw new TypeError("testEngine: name a model, or give its modelText");
  }
  const { model, problems } =
    modelText === undefined ? readModelFile(file as string) : readModel(modelText, "modelText");
  if (problems !== undefined) throw new TypeError(problems.join("\n"));
  const engine = await engineWith(model, options.relationships ?? []);
  return Object.assign(engine, { [Symbol.asyncDispose]: () => engine.close() });
}

/** @throws AuthzError where a relationship does not fit the model */
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
