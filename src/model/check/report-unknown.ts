import type { Definition } from "../model.ts";
import type { Position } from "../position.ts";
import { suggest } from "../reporter.ts";
import type { CheckContext } from "./check-context.ts";

/** Reports the name of a relation or permission that a type lacks, with the likeliest one meant. */
export function reportUnknownMember(
  { model, report }: CheckContext,
  type: Definition,
  name: string,
  position: Position,
): void {
  const hint =
    suggest(name, memberNames(type)) ||
    (name === "self" ? "; for the object itself, add `use self` at the top of the file" : "") ||
    (model.definitions.has(name) ? `; ${name} is a type: declare a relation to it` : "");
  report("MODEL_RELATION_UNKNOWN", position, type.name, name, hint);
}

/** The names of a type's relations and permissions. */
export function memberNames(type: Definition): string[] {
  return [...type.relations.keys(), ...type.permissions.keys()];
}
