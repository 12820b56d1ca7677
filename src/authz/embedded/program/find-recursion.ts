import type { Expression, Model } from "../../../model/index.ts";
import type { ArrowInto, ArrowStep, Names, Recursion, RecursionInto } from "./program.ts";

/**
 * By member: what it is computed from that may in turn be computed from it, as `group#member` from
 * `group#member`. Only these can form cycles of relationships.
 */
export function findRecursion(model: Model, names: Names): Recursion[] {
  const all = names.members.map((_, id) => dependenciesOf(model, names, id));
  const reached = all.map((_, id) => reachedFrom(all, id));
  const mutual = (id: number, other: number) =>
    reached[id]?.has(other) === true && reached[other]?.has(id) === true;
  return all.map(({ usersets, references, arrows }, id) => ({
    usersets: new Set([...usersets].filter((other) => mutual(id, other))),
    references: references.filter((other) => mutual(id, other)),
    arrows: arrows
      .map(({ relation, usersets, targets }) => ({
        relation,
        usersets,
        targets: targets.map((target) => (target >= 0 && mutual(id, target) ? target : -1)),
        only: -1,
      }))
      .filter(({ targets }) => targets.some((target) => target >= 0)),
  }));
}

/** By member: the recurring members that are computed from it. */
export function invertRecursion(recursion: readonly Recursion[]): RecursionInto[] {
  const references: number[][] = recursion.map(() => []);
  const relations: Set<number>[] = recursion.map(() => new Set());
  const intoArrows: ArrowInto[][] = recursion.map(() => []);
  recursion.forEach((of, member) => {
    for (const reference of of.references) references[reference]?.push(member);
    for (const userset of of.usersets) relations[userset]?.add(member);
    for (const { relation, targets } of of.arrows) {
      for (const target of targets) intoArrows[target]?.push({ relation, permission: member });
    }
  });
  return recursion.map((_, member) => ({
    references: references[member] as number[],
    relations: relations[member] as Set<number>,
    arrows: intoArrows[member] as ArrowInto[],
  }));
}

/** By member: whether it is a relation that something recurs through; most are not. */
export function recurringRelations(recursion: readonly Recursion[]): Uint8Array {
  const recurring = new Uint8Array(recursion.length);
  recursion.forEach(({ usersets, arrows }, member) => {
    if (usersets.size > 0) recurring[member] = 1;
    for (const { relation } of arrows) recurring[relation] = 1;
  });
  return recurring;
}

function dependenciesOf(model: Model, names: Names, id: number): Recursion {
  const usersets = new Set<number>();
  const references: number[] = [];
  const arrows: ArrowStep[] = [];
  const { type, name } = names.members[id] as { type: number; name: string };
  const definition = [...model.definitions.values()][type];
  const relation = definition?.relations.get(name);
  for (const { type: subjectType, relation: member } of relation?.subjects ?? []) {
    const subject = names.typeIds.get(subjectType);
    const userset = subject === undefined ? undefined : names.memberIds[subject]?.get(member ?? "");
    if (userset !== undefined) usersets.add(userset);
  }
  const visit = (expression: Expression): void => {
    switch (expression.kind) {
      case "union":
      case "intersection":
        expression.operands.forEach(visit);
        return;
      case "exclusion":
        visit(expression.base);
        visit(expression.subtracted);
        return;
      case "reference":
        references.push(names.memberIds[type]?.get(expression.name) as number);
        return;
      case "arrow": {
        const over = definition?.relations.get(expression.relation);
        const related = new Set(over?.subjects.map(({ type }) => names.typeIds.get(type)));
        arrows.push({
          usersets: over?.subjects.some(({ relation }) => relation !== undefined) === true,
          relation: names.memberIds[type]?.get(expression.relation) as number,
          targets: Int32Array.from(names.memberIds, (ids, target) =>
            related.has(target) ? (ids.get(expression.permission) ?? -1) : -1,
          ),
          only: -1,
        });
      }
    }
  };
  const expression = definition?.permissions.get(name)?.expression;
  if (expression !== undefined) visit(expression);
  return { usersets, references, arrows };
}

/** The members that a member depends on, itself only where that leads back. */
function reachedFrom(all: readonly Recursion[], id: number): ReadonlySet<number> {
  const reached = new Set<number>();
  const pending = [id];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { usersets, references, arrows } = all[next] as Recursion;
    const targets = arrows.flatMap(({ targets }) => [...targets].filter((target) => target >= 0));
    for (const other of [...usersets, ...references, ...targets]) {
      if (reached.has(other)) continue;
      reached.add(other);
      pending.push(other);
    }
  }
  return reached;
}
