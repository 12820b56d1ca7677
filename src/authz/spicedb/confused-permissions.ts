import {
  type Expression,
  formatExpression,
  type Model,
  type Permission,
} from "../../model/index.ts";
import { AuthzError } from "../authz-error.ts";
import { DecisionDiagram, type DiagramNode, DiagramTooLarge } from "./decision-diagram.ts";

/**
 * Refuses a model in which SpiceDB would take the cached decisions of one permission for those of
 * another.
 *
 * SpiceDB (1.54) shares cached decisions among the permissions of a type whose expressions are
 * equal as functions of their operands, but reads parentheses after a minus as if there were no
 * minus: `a - (a + b)`, which is nobody, shares with `a`, and `a - (b & c)` with `a & b & c`.
 * Whichever is asked first then decides for both.
 *
 * @throws AuthzError INVALID_ARGUMENT naming two such permissions and the mend
 */
export function refuseConfusedPermissions(model: Model): void {
  for (const { name: type, permissions } of model.definitions.values()) {
    const all = [...permissions.values()];
    if (!all.some(({ expression }) => subtractsParentheses(expression))) continue;
    try {
      const confused = findConfused(all);
      if (confused !== undefined) throw refusal(type, confused);
    } catch (error) {
      if (!(error instanceof DiagramTooLarge)) throw error;
      throw new AuthzError(
        "INVALID_ARGUMENT",
        `the permissions of ${type} are too large to find out which of them SpiceDB would confuse; give what they subtract permissions of their own`,
      );
    }
  }
}

type Pair = readonly [Permission, Permission];

/** Two permissions of a type that share cached decisions and mean different things. */
function findConfused(permissions: readonly Permission[]): Pair | undefined {
  const diagram = new DecisionDiagram();
  const targets = aliasTargets(permissions);
  const shared = new Map<DiagramNode, { permission: Permission; meaning: DiagramNode }>();
  for (const permission of permissions) {
    const meaning = nodeOf(permission.expression, diagram, targets, "right");
    const key = nodeOf(permission.expression, diagram, targets, "as SpiceDB does");
    const other = shared.get(key);
    if (other === undefined) shared.set(key, { permission, meaning });
    else if (other.meaning !== meaning) return [other.permission, permission];
  }
  return undefined;
}

/** Permissions that are only another name, and what they name in the end. */
function aliasTargets(permissions: readonly Permission[]): ReadonlyMap<string, string> {
  const next = new Map<string, string>();
  for (const { name, expression } of permissions) {
    if (expression.kind === "reference") next.set(name, expression.name);
  }
  const targets = new Map<string, string>();
  for (const [name, target] of next) {
    let end = target;
    // A model has no circles of permissions; bounded all the same.
    for (let steps = next.size; steps > 0 && next.has(end); steps--) end = next.get(end) ?? end;
    targets.set(name, end);
  }
  return targets;
}

/** An expression as a function of its leaves, each of them unrelated to the others. */
function nodeOf(
  expression: Expression,
  diagram: DecisionDiagram,
  targets: ReadonlyMap<string, string>,
  reading: "right" | "as SpiceDB does",
): DiagramNode {
  const read = (part: Expression) => nodeOf(part, diagram, targets, reading);
  switch (expression.kind) {
    case "union":
      return expression.operands.map(read).reduce((left, right) => diagram.or(left, right));
    case "intersection":
      return expression.operands.map(read).reduce((left, right) => diagram.and(left, right));
    case "exclusion": {
      const { base, subtracted } = expression;
      const wrong = reading === "as SpiceDB does" && isCompound(subtracted);
      return diagram.and(read(base), wrong ? read(subtracted) : diagram.not(read(subtracted)));
    }
    case "reference":
      return diagram.operand(targets.get(expression.name) ?? expression.name);
    case "nil":
    case "self":
      // Decisions are shared only for subjects of other types, which are never the object itself.
      return reading === "right" ? diagram.never : diagram.operand(expression.kind);
    default:
      return diagram.operand(formatExpression(expression));
  }
}

function refusal(type: string, confused: Pair): AuthzError {
  const [left, right] = confused.map(({ name }) => `${type}#${name}`);
  const misread = confused.find(({ expression }) => subtractsParentheses(expression));
  const expression = misread === undefined ? "" : ` of ${formatExpression(misread.expression)}`;
  return new AuthzError(
    "INVALID_ARGUMENT",
    `SpiceDB would take cached decisions of ${left} for ${right}: it misreads the parentheses after the minus${expression}; give what they hold a permission of its own and subtract that`,
  );
}

function subtractsParentheses(expression: Expression): boolean {
  switch (expression.kind) {
    case "union":
    case "intersection":
      return expression.operands.some(subtractsParentheses);
    case "exclusion":
      return isCompound(expression.subtracted) || subtractsParentheses(expression.base);
    default:
      return false;
  }
}

function isCompound({ kind }: Expression): boolean {
  return kind === "union" || kind === "intersection" || kind === "exclusion";
}
