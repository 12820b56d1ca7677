import type { Model } from "../model.ts";
import type { Report } from "../reporter.ts";
import type { SchemaSyntax } from "../syntax/schema-syntax.ts";
import { checkCycles } from "./check-cycles.ts";
import { checkDeclaredTypes } from "./check-declared-types.ts";
import { checkExclusions } from "./check-exclusions.ts";
import { checkPermission } from "./check-permission.ts";
import { checkRelation } from "./check-relation.ts";
import { findWildcards } from "./find-wildcards.ts";

/** What a check works on. */
export interface CheckContext {
  readonly model: Model;
  /** Statements of unknown content; see `SchemaSyntax.broken`. */
  readonly broken: ReadonlySet<object>;
  /** The wildcard that each relation accepts, directly or through usersets; see `findWildcards`. */
  readonly wildcards: ReturnType<typeof findWildcards>;
  readonly report: Report;
}

/** Checks that a model means something: names exist, and permissions can be computed. */
export function checkModel(model: Model, syntax: SchemaSyntax, report: Report): void {
  const { broken } = syntax;
  const context: CheckContext = { model, broken, wildcards: findWildcards(model), report };
  for (const definition of model.definitions.values()) {
    for (const relation of definition.relations.values()) {
      checkRelation(context, definition, relation);
    }
    for (const permission of definition.permissions.values()) {
      checkPermission(context, definition, permission);
    }
  }
  const cyclic = checkCycles(model, report);
  checkExclusions(model, cyclic, report);
  if (syntax.features.has("typechecking")) checkDeclaredTypes(model, report);
}
