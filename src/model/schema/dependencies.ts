import { type Model, memberKey, type Position, type Relation, visitLeaves } from "./model.ts";

/** A relation or permission whose members another one is computed from. */
export interface Dependency {
  readonly type: string;
  readonly name: string;
  /** Whether it is on the right side of an exclusion. */
  readonly subtracted: boolean;
  readonly position: Position;
}

/**
 * The dependencies of a relation or permission of a type: the usersets that a relation accepts, and
 * the references of a permission; arrows lead to each type of their relation.
 */
export function dependenciesOf(model: Model, type: string, name: string): Dependency[] {
  const definition = model.definitions.get(type);
  const relation = definition?.relations.get(name);
  if (relation) return usersetsOf(relation);
  const permission = definition?.permissions.get(name);
  if (definition === undefined || permission === undefined) return [];
  const dependencies: Dependency[] = [];
  visitLeaves(permission.expression, (leaf, subtracted) => {
    if (leaf.kind === "reference") {
      dependencies.push({ type, name: leaf.name, subtracted, position: leaf.position });
    } else if (leaf.kind === "arrow") {
      for (const related of relatedTypes(definition.relations.get(leaf.relation))) {
        const { permission: name, position } = leaf;
        dependencies.push({ type: related, name, subtracted, position });
      }
    }
  });
  return dependencies;
}

/** The types that an arrow over this relation leads to: arrows ignore the relation of usersets. */
export function relatedTypes(relation: Relation | undefined): ReadonlySet<string> {
  return new Set(relation?.subjects.map(({ type }) => type));
}

function usersetsOf(relation: Relation): Dependency[] {
  const usersets = new Map<string, Dependency>();
  for (const { type, relation: name, position } of relation.subjects) {
    if (name === undefined) continue;
    usersets.set(memberKey(type, name), { type, name, subtracted: false, position });
  }
  return [...usersets.values()];
}

/** A step through which the members of one relation or permission become those of another. */
export interface MemberStep {
  /** The relation whose stored relationships lead to the related objects; absent for the same object. */
  readonly through?: {
    /** The relation. */
    readonly relation: string;
    /** The type of the related objects. */
    readonly subjectType: string;
    /** The relation of the usersets; absent if any subject counts. */
    readonly subjectRelation?: string;
  };
  /** The relation or permission on the related object. */
  readonly target: {
    /** Its type. */
    readonly type: string;
    /** Its name. */
    readonly name: string;
  };
}

/**
 * The steps from a relation or permission of a type: its usersets, references and arrows. Operators are not
 * distinguished: also what an exclusion subtracts is a step.
 *
 * @example
 * ```ts
 * const arrows = memberSteps(engine.model, "item", "write").filter(({ through }) => through !== undefined);
 * for (const { through, target } of arrows) console.log(through?.relation, target.type, target.name);
 * ```
 */
export function memberSteps(model: Model, type: string, name: string): MemberStep[] {
  const definition = model.definitions.get(type);
  const steps: MemberStep[] = [];
  const relation = definition?.relations.get(name);
  for (const { type: subjectType, relation: subjectRelation } of relation?.subjects ?? []) {
    if (subjectRelation === undefined) continue;
    steps.push({
      through: { relation: name, subjectType, subjectRelation },
      target: { type: subjectType, name: subjectRelation },
    });
  }
  const permission = definition?.permissions.get(name);
  if (definition === undefined || permission === undefined) return steps;
  visitLeaves(permission.expression, (leaf) => {
    if (leaf.kind === "reference") steps.push({ target: { type, name: leaf.name } });
    if (leaf.kind !== "arrow") return;
    const subjects = definition.relations.get(leaf.relation)?.subjects ?? [];
    for (const subjectType of new Set(subjects.map(({ type }) => type))) {
      if (!hasMember(model, subjectType, leaf.permission)) continue;
      steps.push({
        through: { relation: leaf.relation, subjectType },
        target: { type: subjectType, name: leaf.permission },
      });
    }
  });
  return steps;
}

const reachable = new WeakMap<Model, Map<string, ReadonlySet<string>>>();

/** The relations and permissions that the steps reach, including the first one. */
export function reachableMembers(model: Model, type: string, name: string): ReadonlySet<string> {
  const known = reachable.get(model) ?? new Map<string, ReadonlySet<string>>();
  reachable.set(model, known);
  const first = `${type}#${name}`;
  const found = known.get(first);
  if (found !== undefined) return found;
  const reached = new Map([[first, { type, name }]]);
  for (const member of reached.values()) {
    for (const { target } of memberSteps(model, member.type, member.name)) {
      reached.set(`${target.type}#${target.name}`, target);
    }
  }
  const members = new Set(reached.keys());
  known.set(first, members);
  return members;
}

/** Whether a type has such a relation or permission. */
export function hasMember(model: Model, type: string, name: string): boolean {
  const definition = model.definitions.get(type);
  return definition?.relations.has(name) === true || definition?.permissions.has(name) === true;
}
