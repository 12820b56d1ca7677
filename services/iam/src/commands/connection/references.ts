import { CommandError } from "../run/command-error.ts";

/** An object as a person writes it. */
export interface WrittenObject {
  readonly type: string;
  readonly id: string;
}

/** A subject as a person writes it; `relation` is empty for an object itself. */
export interface WrittenSubject extends WrittenObject {
  readonly relation: string;
}

/** A relationship as a person writes it. */
export interface WrittenRelationship {
  readonly resource: WrittenObject;
  readonly relation: string;
  readonly subject: WrittenSubject;
}

// An id is what the API accepts, or a name that stands for one: names have spaces.
const TYPE = "[a-z][a-z0-9_/]{0,127}";
const ID = "[^#@*\\p{Cc}][^#*\\p{Cc}]{0,255}";
const NAME = "[a-z][a-z0-9_]{0,63}";
const OBJECT = new RegExp(`^(${TYPE}):(${ID})$`, "u");
const SUBJECT = new RegExp(`^(${TYPE}):(${ID})(?:#(${NAME}))?$`, "u");
/** What may be the id of a user: words that a message repeats. */
const NAMED = /^[\w.@-]{1,64}$/;
const RELATIONSHIP = new RegExp(
  `^(${TYPE}):([^#*\\p{Cc}]{1,256})#(${NAME})@(${TYPE}):(${ID})(?:#(${NAME}))?$`,
  "u",
);

/** The most characters of a text that a message repeats. */
const MOST_QUOTED = 120;

/** What somebody wrote, or its beginning. */
function quoted(text: string): string {
  return JSON.stringify(text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED)}…` : text);
}

/** Reads `type:id`. @throws CommandError */
export function objectOf(text: string): WrittenObject {
  const [, type, id] = OBJECT.exec(text) ?? [];
  if (type !== undefined && id !== undefined) return { type, id };
  throw new CommandError(
    `${quoted(text)} is not a valid resource: write type:id, such as zone:acme`,
  );
}

/** Reads `type:id` or `type:id#relation`. @throws CommandError */
export function subjectOf(text: string): WrittenSubject {
  const [, type, id, relation = ""] = SUBJECT.exec(text) ?? [];
  if (type !== undefined && id !== undefined) return { type, id, relation };
  throw new CommandError(
    `${quoted(text)} is not a valid subject: write type:id or type:id#relation, such as user:alice or group:eng#member`,
  );
}

/** Reads `type:id`, of a flag. @throws CommandError that names the flag */
export function flagObjectOf(flag: string, text: string): WrittenObject {
  const [, type, id] = OBJECT.exec(text) ?? [];
  if (type !== undefined && id !== undefined) return { type, id };
  const example = NAMED.test(text) ? `user:${text}` : "user:alice";
  throw new CommandError(
    `${flag} ${JSON.stringify(text)} has no type: write type:id, such as ${example}`,
  );
}

/** Reads `type:id#relation@type:id#relation`. @throws CommandError */
export function relationshipOf(text: string): WrittenRelationship {
  const [, type, id, relation, subjectType, subjectId, subjectRelation = ""] =
    RELATIONSHIP.exec(text) ?? [];
  if (
    type === undefined ||
    id === undefined ||
    relation === undefined ||
    subjectType === undefined ||
    subjectId === undefined
  ) {
    throw new CommandError(
      `${quoted(text)} is not a valid relationship: write type:id#relation@type:id, such as zone:acme#user_manager@user:alice or project:etl#viewer@group:eng#member`,
    );
  }
  const subject = { type: subjectType, id: subjectId, relation: subjectRelation };
  return { resource: { type, id }, relation, subject };
}

/** The name of a type, of a flag. @throws CommandError */
export function typeOf(flag: string, text: string): string {
  if (new RegExp(`^${TYPE}$`).test(text)) return text;
  throw new CommandError(
    `${flag} ${JSON.stringify(text)} is not a valid type: write a type of the model, such as user`,
  );
}

/** The name of a permission or relation. @throws CommandError */
export function permissionOf(text: string): string {
  if (new RegExp(`^${NAME}$`).test(text)) return text;
  throw new CommandError(
    `${quoted(text)} is not a valid name of a permission: write one of the model, such as manage_users`,
  );
}
