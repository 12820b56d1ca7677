import { dependenciesOf } from "../dependencies.ts";
import { memberKey } from "../member-key.ts";
import type { Model } from "../model.ts";
import type { Report } from "../reporter.ts";

/**
 * Checks `permission view: user = …`, under `use typechecking`: the declared types are all that can
 * be reached. As SpiceDB reckons it, intersections and exclusions take nothing away.
 */
export function checkDeclaredTypes(model: Model, report: Report): void {
  for (const { name: type, permissions } of model.definitions.values()) {
    for (const { name, subjectTypes, position } of permissions.values()) {
      if (subjectTypes === undefined) continue;
      const reachable = reachableTypes(model, type, name);
      const missing = [...reachable].filter((found) => !subjectTypes.includes(found));
      if (missing.length === 0) continue;
      report("MODEL_SUBJECT_TYPES_INCOMPLETE", position, name, missing.sort());
    }
  }
}

function reachableTypes(model: Model, type: string, name: string): ReadonlySet<string> {
  const types = new Set<string>();
  const reached = new Map([[memberKey(type, name), { type, name }]]);
  // A map yields what is added while it is read, so this reaches everything.
  for (const member of reached.values()) {
    const relation = model.definitions.get(member.type)?.relations.get(member.name);
    for (const subject of relation?.subjects ?? []) {
      if (subject.relation === undefined) types.add(subject.type);
    }
    for (const next of dependenciesOf(model, member.type, member.name)) {
      reached.set(memberKey(next.type, next.name), next);
    }
  }
  return types;
}
