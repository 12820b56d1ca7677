import type { Expression } from "./expression.ts";

/**
 * An expression as the schema language writes it.
 *
 * Operators of different kinds are always set apart by parentheses: SpiceDB's precedence (union
 * before intersection before exclusion) is not what most readers expect.
 */
export function formatExpression(expression: Expression): string {
  switch (expression.kind) {
    case "nil":
    case "self":
      return expression.kind;
    case "reference":
      return expression.name;
    case "arrow":
      return expression.function === "any"
        ? `${expression.relation}->${expression.permission}`
        : `${expression.relation}.all(${expression.permission})`;
    case "union":
      return expression.operands.map(formatOperand).join(" + ");
    case "intersection":
      return expression.operands.map(formatOperand).join(" & ");
    case "exclusion": {
      const { base, subtracted } = expression;
      // A chain of exclusions reads from the left, so its first part stands without parentheses.
      const left = base.kind === "exclusion" ? formatExpression(base) : formatOperand(base);
      return `${left} - ${formatOperand(subtracted)}`;
    }
  }
}

function formatOperand(operand: Expression): string {
  const text = formatExpression(operand);
  const compound =
    operand.kind === "union" || operand.kind === "intersection" || operand.kind === "exclusion";
  return compound ? `(${text})` : text;
}
