import type { Caveat, Permission, Position, Relation } from "../schema/model.ts";

/** The statements of a schema, before names are resolved. */
export interface SchemaSyntax {
  /** The features that `use` statements enable. */
  readonly features: ReadonlySet<string>;
  readonly definitions: readonly DefinitionSyntax[];
  /** Bodies that definitions include with `...name`. */
  readonly partials: readonly DefinitionSyntax[];
  readonly caveats: readonly Caveat[];
  /**
   * Statements with a syntax error: their names are declared, their content is unknown. Checks
   * skip them, so that one mistake is reported once.
   */
  readonly broken: ReadonlySet<object>;
}

/** A definition or a partial: its members in order, duplicates included. */
export interface DefinitionSyntax {
  readonly name: string;
  readonly members: readonly MemberSyntax[];
  readonly position: Position;
}

/** A statement in the body of a definition. */
export type MemberSyntax =
  | { readonly kind: "relation"; readonly relation: Relation }
  | { readonly kind: "permission"; readonly permission: Permission }
  | { readonly kind: "partial"; readonly name: string; readonly position: Position };
