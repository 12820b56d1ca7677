import type { Model, Position } from "../../model/schema/model.ts";
import { memberKey } from "../../model/schema/model.ts";
import { whyNotAllowed } from "../../model/validation/check-relationship.ts";
import type {
  Assertion,
  PlacedRelationship,
  ValidationFile,
} from "../../model/validation/validation-file.ts";
import type { AuthorizationEngine } from "../engine/engine.ts";
import { MAX_UPDATES, type RelationshipUpdate } from "../engine/requests.ts";
import { compareExpectation, type Failure, type FileResult } from "./compare-expectation.ts";
import { Expander } from "./expand.ts";
import { formatExplanation } from "./format-explanation.ts";

/** Makes an engine without relationships. */
export type EngineFactory = (model: Model) => Promise<AuthorizationEngine>;

/** Runs the assertions and expected relations of a validation file. */
export async function runValidation(
  file: ValidationFile,
  model: Model,
  createEngine: EngineFactory,
): Promise<FileResult> {
  const { assertions, expectations } = file;
  const notRun: FileResult["notRun"][number][] = [];
  const skip = ({ line, column }: Position, assertion: string, reason: string) =>
    notRun.push({ line, column, assertion, reason });
  const refused = (failures: readonly Failure[], reason: string): FileResult => {
    for (const { position, text } of [...assertions, ...expectations]) {
      skip(position, text, reason);
    }
    return { file: file.file, passed: 0, failures, notRun, exercised: new Set() };
  };
  let engine: AuthorizationEngine;
  try {
    engine = await createEngine(model);
  } catch (error) {
    const { schema } = file;
    const position = schema.kind === "file" ? schema.position : schema.placeOf(0);
    const failure = { kind: "schema", assertion: "schema", message: messageOf(error) } as const;
    return refused([{ ...position, ...failure }], "the engine refuses the schema");
  }
  try {
    const failures = await writeRelationships(engine, model, file.relationships);
    if (failures.length > 0) {
      // Without all relationships, decisions would not be those that the file means.
      return refused(failures, "relationships of the file are refused");
    }
    const exercised = new Set<string>();
    let passed = 0;
    for (const assertion of assertions) {
      const { kind, position, text } = assertion;
      if (kind === "assertCaveated") {
        skip(position, text, "assertCaveated is not supported: this engine has no caveats");
        continue;
      }
      const { resource, relation } = assertion.relationship;
      exercised.add(memberKey(resource.type, relation));
      const message = await runAssertion(engine, assertion, kind === "assertTrue");
      if (message === undefined) passed++;
      else failures.push({ ...position, kind, assertion: text, message });
    }
    const relationships = file.relationships.map(({ relationship }) => relationship);
    const expander = new Expander(model, relationships);
    for (const expectation of expectations) {
      exercised.add(memberKey(expectation.resource.type, expectation.permission));
      const result = compareExpectation(model, expander, expectation);
      passed += result.passed;
      failures.push(...result.failures);
    }
    return { file: file.file, passed, failures, notRun, exercised };
  } finally {
    await engine.close();
  }
}

/** The failure of an assertion, with the reasons of the decision; undefined if it holds. */
async function runAssertion(
  engine: AuthorizationEngine,
  { relationship: { resource, relation: permission, subject }, caveat }: Assertion,
  expected: boolean,
): Promise<string | undefined> {
  if (caveat !== undefined) return `an assertion has no caveat; remove [${caveat}]`;
  try {
    const { allowed } = await engine.check({ resource, permission, subject });
    if (allowed === expected) return undefined;
    const { explanation } = await engine.explain({ resource, permission, subject });
    const lines = formatExplanation(explanation, subject).map((line) => `\n  ${line}`);
    return `${allowed ? "allowed" : "denied"}, expected ${expected ? "allowed" : "denied"}${lines.join("")}`;
  } catch (error) {
    return messageOf(error);
  }
}

/** Writes relationships, and reports those that are refused. */
export async function writeRelationships(
  engine: AuthorizationEngine,
  model: Model,
  relationships: readonly PlacedRelationship[],
): Promise<Failure[]> {
  const failures: Failure[] = [];
  const fail = ({ position, text }: PlacedRelationship, message: string) =>
    failures.push({ ...position, kind: "relationship", assertion: text, message });
  for (const written of relationships) {
    const message = whyNotAllowed(model, written) ?? unsupportedTrait(written);
    if (message !== undefined) fail(written, message);
  }
  if (failures.length > 0) return failures;
  for (let start = 0; start < relationships.length; start += MAX_UPDATES) {
    const batch = relationships.slice(start, start + MAX_UPDATES);
    if ((await tryWrite(engine, batch)) === undefined) continue;
    // If one of the batch is refused, so are the others: writing them one at a time shows which.
    for (const written of batch) {
      const message = await tryWrite(engine, [written]);
      if (message !== undefined) fail(written, message);
    }
  }
  return failures;
}

function unsupportedTrait({ caveat, expiration }: PlacedRelationship): string | undefined {
  if (caveat !== undefined) return `the caveat ${caveat} is not supported: this engine has none`;
  if (expiration !== undefined) return "expiration times are not supported by this engine";
  return undefined;
}

async function tryWrite(
  engine: AuthorizationEngine,
  batch: readonly PlacedRelationship[],
): Promise<string | undefined> {
  const updates = batch.map(({ relationship }): RelationshipUpdate => {
    return { operation: "TOUCH", relationship };
  });
  try {
    await engine.writeRelationships({ updates });
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** The message of an engine's refusal; any other error is a defect, and is rethrown. */
function messageOf(error: unknown): string {
  if (error instanceof Error && error.name === "AuthzError") return error.message;
  throw error;
}
