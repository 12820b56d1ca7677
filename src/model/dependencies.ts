import { visitLeaves } from "./expression.ts";
import { memberKey } from "./member-key.ts";
import type { Model, Relation } from "./model.ts";
import type { Position } from "./position.ts";

/** Something whose members a relation or permission is computed from. */
export interface Dependency {
  readonly type: string;
  readonly name: string;
  /** Whether it stands below the right side of an exclusion. */
  readonly subtracted: boolean;
  readonly position: Position;
}

/**
 * What a relation or permission of a type depends on: the usersets that a relation accepts, and
 * what a permission refers to, arrows followed to each type they lead to.
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

/** The types that an arrow over this relation leads to: it ignores the subject's own relation. */
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
