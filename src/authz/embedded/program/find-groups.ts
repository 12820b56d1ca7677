import type { Model, Relation } from "../../../model/index.ts";
import type { Names } from "./program.ts";

/**
 * By member: whether it is a group, which is a relation that usersets name and that itself accepts
 * usersets of groups only. Membership depends on relationships alone, so that the groups of a
 * subject can be found from the subject.
 */
export function findGroups(model: Model, names: Names): Uint8Array {
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

/** The members whose usersets a relation accepts. */
export function usersetsOf({ subjects }: Relation, names: Names): number[] {
  return subjects.flatMap(({ type, relation }) => {
    const subject = names.typeIds.get(type);
    const userset =
      subject === undefined || relation === undefined
        ? undefined
        : names.memberIds[subject]?.get(relation);
    return userset === undefined ? [] : [userset];
  });
}
