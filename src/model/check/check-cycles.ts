import { visitLeaves } from "../expression.ts";
import { type Edge, findCycles } from "../find-cycles.ts";
import { memberKey } from "../member-key.ts";
import type { Definition, Model } from "../model.ts";
import type { Report } from "../reporter.ts";

/**
 * Reports permissions that refer to themselves without an arrow between. Through an arrow they may:
 * there the related object is another one, and data that leads back is refused when it is written.
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
