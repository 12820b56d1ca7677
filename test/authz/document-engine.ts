import { createEmbeddedEngine } from "../../src/authz/embedded/index.ts";
import type { AuthorizationEngine } from "../../src/authz/engine/engine.ts";
import type { RelationshipStore } from "../../src/authz/engine/relationship-store.ts";
import type { RelationshipUpdate } from "../../src/authz/engine/requests.ts";
import { parseModel } from "../../src/model/index.ts";
import type { Relationship } from "../../src/model/relationship.ts";
import { SCHEMA, viewer } from "./documents.ts";

/** An engine with the model of documents over a store. */
export function documentEngine(store: RelationshipStore): Promise<AuthorizationEngine> {
  return createEmbeddedEngine({ model: parseModel(SCHEMA, "documents.zed").model, store });
}

export const touchOf = (relationship: Relationship): RelationshipUpdate => ({
  operation: "TOUCH",
  relationship,
});
export const createOf = (relationship: Relationship): RelationshipUpdate => ({
  operation: "CREATE",
  relationship,
});
export const deleteOf = (relationship: Relationship): RelationshipUpdate => ({
  operation: "DELETE",
  relationship,
});

/** Writes in one call that two users view a document. */
export function writePair(engine: AuthorizationEngine, document: string) {
  const updates = [touchOf(viewer(document, "left")), touchOf(viewer(document, "right"))];
  return engine.writeRelationships({ updates });
}

/** Decides whether a user views a document. */
export async function views(
  engine: AuthorizationEngine,
  document: string,
  user: string,
): Promise<boolean> {
  const { resource, subject } = viewer(document, user);
  return (await engine.check({ resource, permission: "view", subject })).allowed;
}

/** All documents and their viewers, `document@user`, as the engine lists them. */
export async function viewersOf(engine: AuthorizationEngine): Promise<Set<string>> {
  const found = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await engine.readRelationships(
      { resourceType: "document" },
      cursor === undefined ? {} : { cursor },
    );
    for (const { resource, subject } of page.items) found.add(`${resource.id}@${subject.id}`);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}
