import type { Position } from "./position.ts";

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
