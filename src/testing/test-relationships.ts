import { type AuthorizationEngine, MAX_UPDATES } from "../authz/engine.ts";
import type { Relationship } from "../authz/relationship.ts";
import { readRelationship } from "../authz/relationship-text.ts";

/** A relationship, or its text: `item:first#owner@user:alice`. */
export type TestRelationship = string | Relationship;

/**
 * Writes relationships, as many as there are.
 *
 * @throws TypeError where a text is not a relationship; AuthzError where one does not fit the model
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
