/** A place in the text of a model: line and column from 1, the column in UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** An authorization model: what a schema in SpiceDB's language declares, partials expanded. */
export interface Model {
  /** The file that it is from, where there are several models to distinguish. */
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

/** What a permission computes: a set of subjects, as SpiceDB's schema language writes it. */
export type Expression = ExpressionLeaf | Union | Intersection | Exclusion;

/** An expression without operands. */
export type ExpressionLeaf = Nil | Self | Reference | Arrow;

/** The empty set: nobody. */
export interface Nil {
  readonly kind: "nil";
  readonly position: Position;
}

/** The object itself as a subject; the schema says `use self` for it. */
export interface Self {
  readonly kind: "self";
  readonly position: Position;
}

/** A relation or a permission of the same type. */
export interface Reference {
  readonly kind: "reference";
  readonly name: string;
  readonly position: Position;
}

/** `relation->permission`: those who hold a permission on the objects that a relation names. */
export interface Arrow {
  readonly kind: "arrow";
  readonly relation: string;
  /** `any` (also written `->`): one such object is enough; `all`: each of them must grant it. */
  readonly function: "any" | "all";
  /** A permission or a relation of the related objects; types without it grant nothing. */
  readonly permission: string;
  readonly position: Position;
  readonly permissionPosition: Position;
}

/** `a + b`: those in any operand. Operands are never unions themselves. */
export interface Union {
  readonly kind: "union";
  readonly operands: readonly Expression[];
}

/** `a & b`: those in all operands. Operands are never intersections themselves. */
export interface Intersection {
  readonly kind: "intersection";
  readonly operands: readonly Expression[];
}

/** `base - subtracted`: those in the first and not in the second. */
export interface Exclusion {
  readonly kind: "exclusion";
  readonly base: Expression;
  readonly subtracted: Expression;
}

/**
 * Calls `visit` for each leaf, from left to right; `subtracted` is true below the right side of
 * an exclusion.
 */
export function visitLeaves(
  expression: Expression,
  visit: (leaf: ExpressionLeaf, subtracted: boolean) => void,
  subtracted = false,
): void {
  switch (expression.kind) {
    case "union":
    case "intersection":
      for (const operand of expression.operands) visitLeaves(operand, visit, subtracted);
      return;
    case "exclusion":
      visitLeaves(expression.base, visit, subtracted);
      visitLeaves(expression.subtracted, visit, true);
      return;
    default:
      visit(expression, subtracted);
  }
}

/** Names a relation or permission of a type in one string, as SpiceDB writes it: `group#member`. */
export function memberKey(type: string, name: string): string {
  return `${type}#${name}`;
}
