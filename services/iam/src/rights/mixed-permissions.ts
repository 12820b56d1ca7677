import type { Expression, Model } from "svc-access/authz";

/** The permissions that are not a plain union: somebody holds them together with others, or unless others are held. */
export function mixedPermissions({
  definitions,
}: Model): { readonly type: string; readonly relation: string }[] {
  return [...definitions].flatMap(([type, { permissions }]) =>
    [...permissions.values()]
      .filter(({ expression }) => !isUnion(expression))
      .map(({ name }) => ({ type, relation: name })),
  );
}

/** Whether nothing but a union of relations, permissions and arrows is meant. */
function isUnion(expression: Expression): boolean {
  if (expression.kind === "union") return expression.operands.every(isUnion);
  if (expression.kind === "arrow") return expression.function === "any";
  return expression.kind !== "intersection" && expression.kind !== "exclusion";
}
