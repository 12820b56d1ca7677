import type { Definition, Expression, Model, Permission } from "../../../src/model/index.ts";
import { printModel } from "../../../src/model/print-model.ts";
import { modelOf } from "./fixture.ts";

const NOWHERE = { line: 1, column: 1 };

/** The same model with a separate permission for each subtracted expression, which the engine requires. */
export function nameSubtractions(model: Model): { text: string; model: Model } {
  const definitions = new Map(
    [...model.definitions].map(([name, definition]) => [name, named(definition)]),
  );
  const text = printModel({ ...model, definitions });
  return { text, model: modelOf(text) };
}

function named(definition: Definition): Definition {
  const permissions = new Map<string, Permission>();
  let count = 0;
  const rewrite = (expression: Expression): Expression => {
    switch (expression.kind) {
      case "union":
      case "intersection":
        return { ...expression, operands: expression.operands.map(rewrite) };
      case "exclusion": {
        const base = rewrite(expression.base);
        const subtracted = rewrite(expression.subtracted);
        if (!("operands" in subtracted) && subtracted.kind !== "exclusion") {
          return { kind: "exclusion", base, subtracted };
        }
        const name = `minus${count++}`;
        permissions.set(name, { name, expression: subtracted, position: NOWHERE });
        return {
          kind: "exclusion",
          base,
          subtracted: { kind: "reference", name, position: NOWHERE },
        };
      }
      default:
        return expression;
    }
  };
  for (const [name, permission] of definition.permissions) {
    permissions.set(name, { ...permission, expression: rewrite(permission.expression) });
  }
  return { ...definition, permissions };
}
