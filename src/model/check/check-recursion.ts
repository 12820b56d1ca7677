import { type Dependency, dependenciesOf } from "../schema/dependencies.ts";
import { type Definition, type Model, memberKey, visitLeaves } from "../schema/model.ts";
import type { Report } from "../syntax/reporter.ts";
import { type Edge, findCycles, strongComponents } from "./cycles.ts";

/**
 * Reports permissions that refer to themselves without an arrow. With an arrow, they may: the related
 * object is another object, and relationships that form a cycle are rejected when they are written.
 *
 * @returns the permissions on such cycles, by `memberKey`
 */
export function checkCycles(model: Model, report: Report): ReadonlySet<string> {
  const cyclic = new Set<string>();
  for (const definition of model.definitions.values()) {
    findCycles(
      definition.permissions.keys(),
      (name) => referencesOf(definition, name),
      (path, { position }) => {
        report("MODEL_PERMISSION_CYCLE", position, path);
        for (const name of path) cyclic.add(memberKey(definition.name, name));
      },
    );
  }
  return cyclic;
}

function referencesOf(definition: Definition, name: string): Edge[] {
  const permission = definition.permissions.get(name);
  const edges: Edge[] = [];
  if (permission === undefined) return edges;
  visitLeaves(permission.expression, (leaf) => {
    if (leaf.kind === "reference") edges.push({ to: leaf.name, position: leaf.position });
  });
  return edges;
}

/**
 * Reports permissions that depend on themselves through the subtracted side of an exclusion: some
 * relationships would make both answers to a check wrong ("allowed unless allowed").
 *
 * SpiceDB accepts them, and then stops at its depth limit.
 *
 * @param cyclic - permissions whose cycle is already reported, by `memberKey`
 */
export function checkExclusions(model: Model, cyclic: ReadonlySet<string>, report: Report): void {
  // Most models have no exclusions, and need no graph.
  if (!hasExclusion(model)) return;
  const dependencies = new Map<string, readonly Dependency[]>();
  for (const { name: type, relations, permissions } of model.definitions.values()) {
    for (const name of [...relations.keys(), ...permissions.keys()]) {
      dependencies.set(memberKey(type, name), dependenciesOf(model, type, name));
    }
  }
  const edgesOf = (key: string) => (dependencies.get(key) ?? []).map(keyOf);
  const component = strongComponents(dependencies.keys(), edgesOf);
  for (const [key, list] of dependencies) {
    if (cyclic.has(key)) continue;
    for (const dependency of list) {
      const target = keyOf(dependency);
      if (!dependency.subtracted || component.get(target) !== component.get(key)) continue;
      const path = [key, ...shortestPath(target, key, edgesOf)];
      report("MODEL_EXCLUSION_RECURSION", dependency.position, path);
    }
  }
}

function hasExclusion({ definitions }: Model): boolean {
  let found = false;
  for (const { permissions } of definitions.values()) {
    for (const { expression } of permissions.values()) {
      visitLeaves(expression, (_leaf, subtracted) => {
        found ||= subtracted;
      });
    }
  }
  return found;
}

function keyOf({ type, name }: Dependency): string {
  return memberKey(type, name);
}

function shortestPath(
  from: string,
  to: string,
  edgesOf: (key: string) => readonly string[],
): string[] {
  const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
  // A map also yields entries that are added during the iteration: this is a breadth-first search.
  for (const key of cameFrom.keys()) {
    if (key === to) break;
    for (const next of edgesOf(key)) if (!cameFrom.has(next)) cameFrom.set(next, key);
  }
  const path: string[] = [];
  for (let key: string | undefined = to; key !== undefined; key = cameFrom.get(key)) path.push(key);
  return path.reverse();
}
