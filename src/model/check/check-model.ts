import type { Model } from "../schema/model.ts";
import type { Report } from "../syntax/reporter.ts";
import type { SchemaSyntax } from "../syntax/schema-syntax.ts";
import { type CheckContext, findWildcards } from "./check-context.ts";
import { checkDeclaredTypes, checkPermission } from "./check-permission.ts";
import { checkCycles, checkExclusions } from "./check-recursion.ts";
import { checkRelation } from "./check-relation.ts";

/** Checks that names in a model exist, and that permissions can be computed. */
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
