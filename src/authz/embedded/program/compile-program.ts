import type { Expression, Model } from "../../../model/index.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import { combiningNodes, reachableTypes } from "./analyse-nodes.ts";
import { compileNodes, usersetsOf } from "./compile-nodes.ts";
import { findRecursion, invertRecursion, recurringRelations } from "./find-recursion.ts";
import { type ArrowInto, layoutPairs, type Member, type Names, type Program } from "./program.ts";

/**
 * Compiles a model that has no errors.
 *
 * @throws AuthzError UNIMPLEMENTED for caveats and expiring relationships
 */
export function compileProgram(model: Model): Program {
  refuseTraits(model);
  const names = nameMembers(model);
  const groups = findGroups(model, names);
  const nodes = compileNodes(model, names, groups);
  const recursion = findRecursion(model, names);
  const grants = collectGrants(model, names);
  return {
    ...names,
    typeNames: [...model.definitions.keys()],
    nodes,
    reaches: reachableTypes(model, names, nodes),
    combines: combiningNodes(names, nodes, model),
    recursion,
    recursionInto: invertRecursion(recursion),
    recurringRelations: recurringRelations(recursion),
    ...grants,
    groups,
    layout: layoutPairs({ ...names, ...grants }),
  };
}

function refuseTraits(model: Model): void {
  for (const { name: type, relations } of model.definitions.values()) {
    for (const { name, subjects } of relations.values()) {
      for (const { caveat, expiration } of subjects) {
        if (caveat === undefined && !expiration) continue;
        const trait = caveat === undefined ? "an expiration" : `the caveat ${caveat}`;
        throw new AuthzError(
          "UNIMPLEMENTED",
          `${type}#${name} accepts subjects with ${trait}, which the embedded engine does not evaluate; use the spicedb engine`,
        );
      }
    }
  }
}

function nameMembers(model: Model): Names {
  const typeIds = new Map([...model.definitions.keys()].map((name, id) => [name, id]));
  const members: Member[] = [{ id: 0, type: -1, name: "...", isRelation: false }];
  const memberIds = [...model.definitions.values()].map(({ relations, permissions }, type) => {
    const ids = new Map<string, number>();
    for (const name of [...relations.keys(), ...permissions.keys()]) {
      const id = members.length;
      members.push({ id, type, name, isRelation: relations.has(name) });
      ids.set(name, id);
    }
    return ids;
  });
  return { typeIds, members, memberIds };
}

/**
 * The model in reverse: what a member may grant. For an intersection the first operand is enough,
 * and for an exclusion the base, because every holder of the whole holds these; the results are
 * candidates until they are checked.
 */
function collectGrants(
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

/**
 * By member: whether it is a group, which is a relation that usersets name and that itself accepts
 * usersets of groups only. Membership depends on relationships alone, so that the groups of a
 * subject can be found from the subject.
 */
function findGroups(model: Model, names: Names): Uint8Array {
  const accepted = new Map<number, readonly number[]>();
  [...model.definitions.values()].forEach(({ relations }, type) => {
    for (const relation of relations.values()) {
      const member = names.memberIds[type]?.get(relation.name) as number;
      accepted.set(member, usersetsOf(relation, names));
    }
  });
  const groups = new Uint8Array(names.members.length);
  for (const usersets of accepted.values()) for (const userset of usersets) groups[userset] = 1;
  // A relation that accepts another kind of userset is not a group, nor is one that accepts that
  // relation.
  for (let changed = true; changed; ) {
    changed = false;
    groups.forEach((is, member) => {
      if (is === 0 || accepted.get(member)?.every((userset) => groups[userset] === 1)) return;
      groups[member] = 0;
      changed = true;
    });
  }
  return groups;
}
