import { OBJECT_IDS, WILDCARD } from "./object-id.ts";
import type { ObjectReference, Relationship, SubjectReference } from "./relationship.ts";

/** A relationship as written in a SpiceDB file, with its caveat and expiration. */
export interface WrittenRelationship {
  readonly relationship: Relationship;
  /** The caveat in brackets after it. */
  readonly caveat?: string;
  /** Its expiration time, in brackets after it. */
  readonly expiration?: string;
}

/** A relation or permission of an object: `doc:readme#view`. */
export interface ObjectMember {
  readonly resource: ObjectReference;
  readonly permission: string;
}

/** The maximum length of an object id in SpiceDB. */
export const MAX_ID_LENGTH = 1024;

// SpiceDB's names; a name has at least three characters, except for the parts of a prefix.
const NAME = "[a-z][a-z0-9_]{1,62}[a-z0-9]";
const TYPE = `(?:[a-z][a-z0-9_]{1,61}[a-z0-9]/)*${NAME}`;
const ID = "[a-zA-Z0-9/_|\\-=+]+";
const OBJECT = `(${TYPE}):(${ID})#(${NAME})`;
const SUBJECT = `(${TYPE}):(${ID}|\\*)(?:#(${NAME}|\\.\\.\\.))?`;
const TRAITS = `(?:\\[(${TYPE})(?::\\{.+\\})?\\])?(?:\\[expiration:([\\d\\-.:TZ]+)\\])?`;

const MEMBER_PATTERN = new RegExp(`^${OBJECT}$`);
const SUBJECT_PATTERN = new RegExp(`^${SUBJECT}$`);
const RELATIONSHIP_PATTERN = new RegExp(`^${OBJECT}@${SUBJECT}${TRAITS}$`);

/**
 * Parses `type:id#relation@type:id#relation`, with the id characters of SpiceDB. `#...` after the
 * subject means no relation.
 *
 * @returns undefined if the text is not a relationship; `whyNoRelationship` explains why
 */
export function parseRelationship(text: string): WrittenRelationship | undefined {
  const match = RELATIONSHIP_PATTERN.exec(text);
  if (match === null) return undefined;
  const [, type = "", id = "", relation = "", subjectType, subjectId, subjectRelation] = match;
  const [, , , , , , , caveat, expiration] = match;
  const subject = subjectOf(subjectType, subjectId, subjectRelation);
  if (id.length > MAX_ID_LENGTH || subject.id.length > MAX_ID_LENGTH) return undefined;
  return {
    relationship: { resource: { type, id }, relation, subject },
    ...(caveat === undefined ? {} : { caveat }),
    ...(expiration === undefined ? {} : { expiration }),
  };
}

/** Parses `type:id#permission`. */
export function parseMember(text: string): ObjectMember | undefined {
  const match = MEMBER_PATTERN.exec(text);
  if (match === null) return undefined;
  const [, type = "", id = "", permission = ""] = match;
  return id.length > MAX_ID_LENGTH ? undefined : { resource: { type, id }, permission };
}

/** Parses `type:id`, `type:id#relation` or `type:*`. */
export function parseSubject(text: string): SubjectReference | undefined {
  const match = SUBJECT_PATTERN.exec(text);
  if (match === null) return undefined;
  const subject = subjectOf(match[1], match[2], match[3]);
  return subject.id.length > MAX_ID_LENGTH ? undefined : subject;
}

function subjectOf(type = "", id = "", relation?: string): SubjectReference {
  return relation === undefined || relation === "..." ? { type, id } : { type, id, relation };
}

/** A relationship in SpiceDB's format: `doc:1#viewer@group:eng#member`. */
export function formatRelationship({ resource, relation, subject }: Relationship): string {
  const userset = subject.relation === undefined ? "" : `#${subject.relation}`;
  return `${resource.type}:${resource.id}#${relation}@${subject.type}:${subject.id}${userset}`;
}

/** `type:id#permission`. */
export function formatMember({ resource, permission }: ObjectMember): string {
  return `${resource.type}:${resource.id}#${permission}`;
}

/** `type:id`, `type:id#relation` or `type:*`. */
export function formatSubjectReference({ type, id, relation }: SubjectReference): string {
  return relation === undefined ? `${type}:${id}` : `${type}:${id}#${relation}`;
}

/** A reference to all objects of a type, an object, or a userset. */
export interface Reference {
  readonly type: string;
  readonly id?: string;
  readonly relation?: string;
}

/** A relationship, or the problem of the text. */
export type RelationshipReading =
  | { readonly relationship: Relationship; readonly problem?: undefined }
  | { readonly relationship?: undefined; readonly problem: string };

const FORM =
  "write type:id#relation@type:id or type:id#relation@type:id#relation, in quotes in a shell";
/** Ids contain no `#`, so the first one ends the object, and the `@` after it ends the relation. */
const RELATIONSHIP = /^([^#]*#[^@#]*)@(.*)$/s;
const REFERENCE = /^([a-z][a-z0-9_/]*)(?::([^#\s]+))?(?:#(\w+|\.\.\.))?$/u;
/** The traits after a subject in SpiceDB files. An id may look like a trait, but that is never intended. */
const TRAIT = /\[(?:expiration:[^\]]*|[a-z][a-z0-9_/]*(?::\{.*\})?)\]$/s;

/**
 * Parses `type:id#relation@type:id` or `type:id#relation@type:id#relation`. It accepts the ids of our
 * engines, which allow more characters than SpiceDB's files. The engine checks names against the model.
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
    return refuse("it has a caveat or an expiration, which these engines do not support");
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
 * Parses `type`, `type:id` or `type:id#relation`, with any id; undefined if the text has another form.
 * In SpiceDB, `#...` means no relation.
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
