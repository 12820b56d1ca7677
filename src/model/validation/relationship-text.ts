import type { ObjectReference, Relationship, SubjectReference } from "../../authz/relationship.ts";

/** A relationship as a file of SpiceDB writes it, with what only its text can say. */
export interface WrittenRelationship {
  readonly relationship: Relationship;
  /** The caveat in brackets behind it. */
  readonly caveat?: string;
  /** The time in brackets behind it at which it expires. */
  readonly expiration?: string;
}

/** A relation or permission of an object: `doc:readme#view`. */
export interface ObjectMember {
  readonly resource: ObjectReference;
  readonly permission: string;
}

/** The most characters of an object id in SpiceDB. */
export const MAX_ID_LENGTH = 1024;

// SpiceDB's names; a name has three characters at least, but for the parts of a prefix.
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
 * Reads `type:id#relation@type:id#relation`, with SpiceDB's alphabet of ids. `#...` behind the
 * subject is no relation.
 *
 * @returns undefined where the text is no relationship; `whyNoRelationship` says why
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

/** Reads `type:id#permission`. */
export function parseMember(text: string): ObjectMember | undefined {
  const match = MEMBER_PATTERN.exec(text);
  if (match === null) return undefined;
  const [, type = "", id = "", permission = ""] = match;
  return id.length > MAX_ID_LENGTH ? undefined : { resource: { type, id }, permission };
}

/** Reads `type:id`, `type:id#relation` or `type:*`. */
export function parseSubject(text: string): SubjectReference | undefined {
  const match = SUBJECT_PATTERN.exec(text);
  if (match === null) return undefined;
  const subject = subjectOf(match[1], match[2], match[3]);
  return subject.id.length > MAX_ID_LENGTH ? undefined : subject;
}

function subjectOf(type = "", id = "", relation?: string): SubjectReference {
  return relation === undefined || relation === "..." ? { type, id } : { type, id, relation };
}

/** A relationship as its files write it. */
export function formatRelationship({ resource, relation, subject }: Relationship): string {
  return `${formatMember({ resource, permission: relation })}@${formatSubjectReference(subject)}`;
}

/** `type:id#permission`. */
export function formatMember({ resource, permission }: ObjectMember): string {
  return `${resource.type}:${resource.id}#${permission}`;
}

/** `type:id`, `type:id#relation` or `type:*`. */
export function formatSubjectReference({ type, id, relation }: SubjectReference): string {
  return relation === undefined ? `${type}:${id}` : `${type}:${id}#${relation}`;
}
