import { OBJECT_IDS, WILDCARD } from "./object-id.ts";
import type { Relationship } from "./relationship.ts";

/** What a text refers to: all of a type, an object, or a userset. */
export interface Reference {
  readonly type: string;
  readonly id?: string;
  readonly relation?: string;
}

/** A relationship, or why a text is not one. */
export type RelationshipReading =
  | { readonly relationship: Relationship; readonly problem?: undefined }
  | { readonly relationship?: undefined; readonly problem: string };

const FORM =
  "write type:id#relation@type:id or type:id#relation@type:id#relation, in quotes in a shell";
/** Ids hold no `#`, so the first one ends the object, and the `@` after it the relation. */
const RELATIONSHIP = /^([^#]*#[^@#]*)@(.*)$/s;
const REFERENCE = /^([a-z][a-z0-9_/]*)(?::([^#\s]+))?(?:#(\w+|\.\.\.))?$/u;
/** What the files of SpiceDB write after a subject; an id may look like it, and is then meant by nobody. */
const TRAIT = /\[(?:expiration:[^\]]*|[a-z][a-z0-9_/]*(?::\{.*\})?)\]$/s;

/**
 * Reads `type:id#relation@type:id` or `type:id#relation@type:id#relation`, with the ids of our
 * engines, which are wider than those of SpiceDB's files. What the model has, the engine says.
 */
export function readRelationship(text: string): RelationshipReading {
  const shown = JSON.stringify(text.length > 600 ? `${text.slice(0, 600)}…` : text);
  const refuse = (why: string) => ({ problem: `${shown} is not a valid relationship: ${why}` });
  const [, object = "", party = ""] = RELATIONSHIP.exec(text) ?? [];
  const resource = readReference(object);
  const subject = readReference(party);
  if (resource?.relation === undefined) return refuse(FORM);
  if (resource.id === undefined || subject?.id === undefined) return refuse(FORM);
  if (TRAIT.test(party)) {
    return refuse("it has a caveat or expires, which the engines here do not know");
  }
  const isParty = subject.id === WILDCARD || OBJECT_IDS.allows(subject.id);
  if (!isParty || !OBJECT_IDS.allows(resource.id)) {
    return refuse(`an id is ${OBJECT_IDS.description}`);
  }
  const { type, id, relation } = resource;
  return {
    relationship: { resource: { type, id }, relation, subject: { ...subject, id: subject.id } },
  };
}

/**
 * Reads `type`, `type:id` or `type:id#relation`, whatever the id; undefined where a text is none of
 * these. `#...` is SpiceDB's way to write that there is no relation.
 */
export function readReference(text: string): Reference | undefined {
  const [, type, id, relation] = REFERENCE.exec(text) ?? [];
  if (type === undefined || (relation !== undefined && id === undefined)) return undefined;
  return {
    type,
    ...(id === undefined ? {} : { id }),
    ...(relation === undefined || relation === "..." ? {} : { relation }),
  };
}
