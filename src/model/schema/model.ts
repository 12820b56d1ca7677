/** A position in the text of a model. */
export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
}

/** An authorization model: the declarations of a schema in SpiceDB's language, with expanded partials. */
export interface Model {
  /** Its file, to distinguish several models. */
  readonly file?: string;
  /** The object types by name, in the order of the text. */
  readonly definitions: ReadonlyMap<string, Definition>;
  /** The caveats by name; the embedded engine rejects a model with caveats. */
  readonly caveats: ReadonlyMap<string, Caveat>;
}

/** An object type. Its relations and permissions share one namespace. */
export interface Definition {
  /** The type, such as `skill`. */
  readonly name: string;
  /** The relations by name, in the order of the text. */
  readonly relations: ReadonlyMap<string, Relation>;
  /** The permissions by name, in the order of the text. */
  readonly permissions: ReadonlyMap<string, Permission>;
  /** The position of its name. */
  readonly position: Position;
}

/** A relation: stored relationships connect an object with its subjects. */
export interface Relation {
  /** The relation, such as `owner`. */
  readonly name: string;
  /** Who may have it, in the order of the text. */
  readonly subjects: readonly AllowedSubject[];
  /** The position of its name. */
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
  /** The caveat that such a relationship must have. */
  readonly caveat?: string;
  /** Whether such a relationship must have an expiration time. */
  readonly expiration: boolean;
  /** Where it begins. */
  readonly position: Position;
}

/** A permission: computed by checks, never stored. */
export interface Permission {
  /** The permission, such as `view`. */
  readonly name: string;
  /** Who holds it. */
  readonly expression: Expression;
  /** The subject types that the author declared, as in `permission view: user = …`. */
  readonly subjectTypes?: readonly string[];
  /** The position of its name. */
  readonly position: Position;
}

/** A condition on a relationship, in CEL; its expression stays text and is not compiled here. */
export interface Caveat {
  /** The caveat, such as `in_business_hours`. */
  readonly name: string;
  /** What the expression is given, in the order of the text. */
  readonly parameters: readonly CaveatParameter[];
  /** The condition, in CEL. */
  readonly expression: string;
  /** The position of its name. */
  readonly position: Position;
}

/** A parameter of a caveat. */
export interface CaveatParameter {
  /** What the expression calls it. */
  readonly name: string;
  /** Its type as the schema writes it: `list<string>`. */
  readonly type: string;
  /** The position of its name. */
  readonly position: Position;
}

/** A kind of subject as in the schema: `group#member`, `user:*`, `user with expiration`. */
export function formatSubject(subject: AllowedSubject): string {
  const { type, relation, wildcard, caveat, expiration } = subject;
  const base = wildcard ? `${type}:*` : relation === undefined ? type : `${type}#${relation}`;
  const traits = [caveat, expiration ? "expiration" : undefined].filter((trait) => trait);
  return traits.length === 0 ? base : `${base} with ${traits.join(" and ")}`;
}

/** The expression of a permission, which computes a set of subjects. */
export type Expression = ExpressionLeaf | Union | Intersection | Exclusion;

/** An expression without operands. */
export type ExpressionLeaf = Nil | Self | Reference | Arrow;

/** The empty set: nobody. */
export interface Nil {
  readonly kind: "nil";
  /** The position of `nil`. */
  readonly position: Position;
}

/** The object itself as a subject; the schema must enable it with `use self`. */
export interface Self {
  readonly kind: "self";
  /** The position of `self`. */
  readonly position: Position;
}

/** A relation or a permission of the same type. */
export interface Reference {
  readonly kind: "reference";
  /** Its name. */
  readonly name: string;
  /** Its position. */
  readonly position: Position;
}

/** `relation->permission`: those who hold a permission on the objects of a relation. */
export interface Arrow {
  readonly kind: "arrow";
  /** A relation of the same type: whose subjects are asked. */
  readonly relation: string;
  /** `any` (also written `->`): one such object is enough; `all`: each of them must grant it. */
  readonly function: "any" | "all";
  /** A permission or a relation of the related objects; types without it grant nothing. */
  readonly permission: string;
  /** The position of the relation. */
  readonly position: Position;
  /** The position of the permission. */
  readonly permissionPosition: Position;
}

/** `a + b`: those in any operand. Operands are never unions themselves. */
export interface Union {
  readonly kind: "union";
  /** Two or more, from left to right. */
  readonly operands: readonly Expression[];
}

/** `a & b`: those in all operands. Operands are never intersections themselves. */
export interface Intersection {
  readonly kind: "intersection";
  /** Two or more, from left to right. */
  readonly operands: readonly Expression[];
}

/** `base - subtracted`: those in the base but not in the subtracted set. */
export interface Exclusion {
  readonly kind: "exclusion";
  /** Those who are in it. */
  readonly base: Expression;
  /** Those of them who are not. */
  readonly subtracted: Expression;
}

/**
 * Calls `visit` for each leaf, from left to right; `subtracted` is true on the right side of an
 * exclusion.
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

/** A relation or permission of a type as one string: `group#member`. */
export function memberKey(type: string, name: string): string {
  return `${type}#${name}`;
}
