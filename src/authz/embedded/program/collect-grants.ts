import type { Expression, Model } from "../../../model/index.ts";
import type { ArrowInto, Names, Program } from "./program.ts";

/**
 * The model in reverse: what a member may grant. For an intersection the first operand is enough,
 * and for an exclusion the base, because every holder of the whole holds these; the results are
 * candidates until they are checked.
 */
export function collectGrants(
  model: Model,
  names: Names,
): Pick<Program, "acceptedBy" | "grants" | "arrowsInto" | "selfGrants" | "subjectMembers"> {
  const acceptedBy: number[][] = names.members.map(() => []);
  const grants: number[][] = names.members.map(() => []);
  const arrowsInto: ArrowInto[][] = names.members.map(() => []);
  const selfGrants: number[][] = names.memberIds.map(() => []);
  const subjectMembers: Set<number>[] = names.memberIds.map(() => new Set([0]));
  [...model.definitions.values()].forEach(({ permissions, relations }, type) => {
    const idOf = (name: string) => names.memberIds[type]?.get(name) as number;
    for (const { name, expression } of permissions.values()) {
      const permission = idOf(name);
      visitNecessary(expression, (leaf) => {
        if (leaf.kind === "self") selfGrants[type]?.push(permission);
        if (leaf.kind === "reference") grants[idOf(leaf.name)]?.push(permission);
        if (leaf.kind !== "arrow") return;
        for (const ids of names.memberIds) {
          const into = ids.get(leaf.permission);
          if (into !== undefined) {
            arrowsInto[into]?.push({ relation: idOf(leaf.relation), permission });
          }
        }
      });
    }
    for (const { name, subjects } of relations.values()) {
      for (const { type: subjectType, relation } of subjects) {
        const subject = names.typeIds.get(subjectType);
        if (relation === undefined || subject === undefined) continue;
        const member = names.memberIds[subject]?.get(relation);
        if (member === undefined) continue;
        subjectMembers[subject]?.add(member);
        acceptedBy[member]?.push(idOf(name));
      }
    }
  });
  return {
    acceptedBy,
    grants,
    arrowsInto,
    selfGrants,
    subjectMembers: subjectMembers.map((ids) => [...ids]),
  };
}

/** Calls `visit` for the leaves of which one must grant for the expression to grant. */
function visitNecessary(expression: Expression, visit: (leaf: Expression) => void): void {
  switch (expression.kind) {
    case "union":
      for (const operand of expression.operands) visitNecessary(operand, visit);
      return;
    case "intersection":
      visitNecessary(expression.operands[0] as Expression, visit);
      return;
    case "exclusion":
      visitNecessary(expression.base, visit);
      return;
    default:
      visit(expression);
  }
}
