import type { Expression } from "./expression.ts";
import type { Position } from "./position.ts";

/** An authorization model: what a schema in SpiceDB's language declares, partials expanded. */
export interface Model {
  /** The file that it is from, where there are several models to tell apart. */
  readonly file?: string;
  /** The object types by name, in the order of the text. */
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly caveats: ReadonlyMap<string, Caveat>;
}

/** An object type. Relations and permissions share one space of names. */
export interface Definition {
  readonly name: string;
  readonly relations: ReadonlyMap<string, Relation>;
  readonly permissions: ReadonlyMap<string, Permission>;
  readonly position: Position;
}

/** A relation: what is written, between an object and its subjects. */
export interface Relation {
  readonly name: string;
  readonly subjects: readonly AllowedSubject[];
  readonly position: Position;
}

/** A kind of subject that a relation accepts. */
export interface AllowedSubject {
  /** The type of the subject. */
  readonly type: string;
  /** For a userset such as `group#member`, its relation; absent for the object itself. */
  readonly relation?: string;
  /** `type:*`: every object of the type at once. */
  readonly wildcard: boolean;
  /** The caveat that such a relationship must carry. */
  readonly caveat?: string;
  /** Whether such a relationship must carry a time at which it expires. */
  readonly expiration: boolean;
  readonly position: Position;
}

/** A permission: computed at the time of a check, never written. */
export interface Permission {
  readonly name: string;
  readonly expression: Expression;
  /** The subject types that the author declared, as in `permission view: user = …`. */
  readonly subjectTypes?: readonly string[];
  readonly position: Position;
}

/** A condition on a relationship, in CEL; its expression is kept as text and not compiled here. */
export interface Caveat {
  readonly name: string;
  readonly parameters: readonly CaveatParameter[];
  readonly expression: string;
  readonly position: Position;
}

/** A parameter of a caveat, with its type as the schema writes it: `list<string>`. */
export interface CaveatParameter {
  readonly name: string;
  readonly type: string;
  readonly position: Position;
}

/** A kind of subject as the schema writes it: `group#member`, `user:*`, `user with expiration`. */
export function formatSubject(subject: AllowedSubject): string {
  const { type, relation, wildcard, caveat, expiration } = subject;
  const base = wildcard ? `${type}:*` : relation === undefined ? type : `${type}#${relation}`;
  const traits = [caveat, expiration ? "expiration" : undefined].filter((trait) => trait);
  return traits.length === 0 ? base : `${base} with ${traits.join(" and ")}`;
}
