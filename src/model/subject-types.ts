import { dependenciesOf, relatedTypes } from "./schema/dependencies.ts";
import { type Definition, type Expression, type Model, memberKey } from "./schema/model.ts";

const NONE: ReadonlySet<string> = new Set();

/**
 * The types of objects that can hold a permission or relation of a type. Usersets, arrows and
 * wildcards are followed; an intersection keeps the types common to all its operands, an exclusion
 * those of its base.
 *
 * @returns an empty set if there are none, or the model has no such type or permission
 */
export function subjectTypesOf(model: Model, type: string, name: string): ReadonlySet<string> {
  const members = reachableMembers(model, type, name);
  const types = new Map<string, ReadonlySet<string>>();
  const lookup = (type: string, name: string) => types.get(memberKey(type, name)) ?? NONE;

  // Recursive permissions have the least fixed point: start with no types, and add types until nothing changes.
  for (let grown = true; grown; ) {
    grown = false;
    for (const [key, member] of members) {
      const definition = model.definitions.get(member.type);
      const found = definition ? memberTypes(definition, member.name, lookup) : NONE;
      grown ||= found.size > (types.get(key)?.size ?? 0);
      types.set(key, found);
    }
  }
  return lookup(type, name);
}

interface Member {
  readonly type: string;
  readonly name: string;
}

type Lookup = (type: string, name: string) => ReadonlySet<string>;

/** All dependencies of a member, in reverse order, so that most results are known when needed. */
function reachableMembers(model: Model, type: string, name: string): [string, Member][] {
  const reached = new Map<string, Member>([[memberKey(type, name), { type, name }]]);
  for (const member of reached.values()) {
    for (const next of dependenciesOf(model, member.type, member.name)) {
      reached.set(memberKey(next.type, next.name), next);
    }
  }
  return [...reached].reverse();
}

function memberTypes(definition: Definition, name: string, lookup: Lookup): ReadonlySet<string> {
  const relation = definition.relations.get(name);
  if (relation) {
    const types = relation.subjects.map(({ type, relation }) =>
      relation === undefined ? new Set([type]) : lookup(type, relation),
    );
    return union(types);
  }
  const permission = definition.permissions.get(name);
  return permission ? expressionTypes(definition, permission.expression, lookup) : NONE;
}

function expressionTypes(
  definition: Definition,
  expression: Expression,
  lookup: Lookup,
): ReadonlySet<string> {
  const typesOf = (operand: Expression) => expressionTypes(definition, operand, lookup);
  switch (expression.kind) {
    case "nil":
      return NONE;
    case "self":
      return new Set([definition.name]);
    case "reference":
      return lookup(definition.name, expression.name);
    case "arrow": {
      const related = relatedTypes(definition.relations.get(expression.relation));
      return union([...related].map((type) => lookup(type, expression.permission)));
    }
    case "union":
      return union(expression.operands.map(typesOf));
    case "intersection":
      return expression.operands.map(typesOf).reduce(intersect);
    case "exclusion":
      return typesOf(expression.base);
  }
}

function union(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set(sets.flatMap((set) => [...set]));
}

function intersect(left: ReadonlySet<string>, right: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...left].filter((type) => right.has(type)));
}
