import { createEmbeddedEngine, createMemoryStore } from "../../../src/authz/embedded/index.ts";
import type { AuthorizationEngine } from "../../../src/authz/engine/engine.ts";
import type { RelationshipStore } from "../../../src/authz/engine/relationship-store.ts";
import type { RelationshipUpdate, WriteOperation } from "../../../src/authz/engine/requests.ts";
import { parseModel } from "../../../src/model/index.ts";
import type { ObjectIdRule } from "../../../src/model/object-id.ts";
import type {
  ObjectReference,
  Relationship,
  SubjectReference,
} from "../../../src/model/relationship.ts";

/** An engine with a schema; throws if the schema has errors. */
export async function engineOf(
  schema: string,
  store: RelationshipStore = createMemoryStore(),
  objectIds?: ObjectIdRule,
): Promise<AuthorizationEngine> {
  const { model, diagnostics } = parseModel(schema, "test.zed");
  if (diagnostics.length > 0) throw new Error(JSON.stringify(diagnostics));
  return createEmbeddedEngine({ model, store, ...(objectIds === undefined ? {} : { objectIds }) });
}

/** `type:id#relation@type:id[#relation]`; `#...` is not a relation. */
export function relationshipOf(text: string): Relationship {
  const [resource = "", subject = ""] = text.split("@");
  const { relation = "", ...object } = subjectOf(resource);
  return { resource: object, relation, subject: subjectOf(subject) };
}

export function subjectOf(text: string): SubjectReference {
  const [object = "", relation] = text.split("#");
  const reference = objectOf(object);
  return relation === undefined || relation === "..." ? reference : { ...reference, relation };
}

export function objectOf(text: string): ObjectReference {
  const colon = text.indexOf(":");
  return { type: text.slice(0, colon), id: text.slice(colon + 1) };
}

export function updateOf(text: string, operation: WriteOperation = "TOUCH"): RelationshipUpdate {
  return { operation, relationship: relationshipOf(text) };
}

/** Writes relationships, 1,000 a call. */
export async function writeAll(
  engine: AuthorizationEngine,
  texts: readonly string[],
): Promise<void> {
  for (let from = 0; from < texts.length; from += 1000) {
    const updates = texts.slice(from, from + 1000).map((text) => updateOf(text));
    await engine.writeRelationships({ updates });
  }
}

/** Decides `type:id#permission@subject`. */
export async function allows(engine: AuthorizationEngine, text: string): Promise<boolean> {
  const { resource, relation: permission, subject } = relationshipOf(text);
  return (await engine.check({ resource, permission, subject })).allowed;
}
