import { type Expression, formatExpression, type Model } from "../../../model/index.ts";
import { AuthzError } from "../../engine/authz-error.ts";

/** The most permissions that a message names. */
const NAMED = 5;

/**
 * Refuses a model that subtracts parentheses, such as `viewer - (banned + muted)`.
 *
 * For SpiceDB 1.54. It shares cached decisions among the permissions of a type whose expressions
 * are equal as functions of their operands, but reads parentheses after a minus as if there were no
 * minus: `a - (a + b)`, which is empty, shares with `a`, and `a - (b & c)` with `a & b & c`. The
 * first of the two that is checked then decides both. SpiceDB reads it correctly if the subtracted
 * part is a permission of its own.
 *
 * @throws AuthzError INVALID_ARGUMENT that names the permissions and the fix
 */
export function refuseSubtractedParentheses(model: Model): void {
  const misread = [...model.definitions.values()].flatMap(({ name: type, permissions }) =>
    [...permissions.values()]
      .filter(({ expression }) => subtractsParentheses(expression))
      .map(({ name, expression }) => `${type}#${name} = ${formatExpression(expression)}`),
  );
  if (misread.length === 0) return;
  const more = misread.length - NAMED;
  const named = [...misread.slice(0, NAMED), ...(more > 0 ? [`and ${more} more`] : [])];
  throw new AuthzError(
    "INVALID_ARGUMENT",
    `SpiceDB misreads parentheses after a minus, including implicit ones (a - b + c is a - (b + c)); define a permission for the subtracted part and subtract that, as in "permission excluded = banned + muted" and "permission view = viewer - excluded": ${named.join("; ")}`,
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
