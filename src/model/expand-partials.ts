import { findCycles } from "./find-cycles.ts";
import { type Report, suggest } from "./reporter.ts";
import type { DefinitionSyntax, MemberSyntax } from "./syntax/schema-syntax.ts";

/** Yields the relations and permissions of a definition, those of its partials included. */
export type ExpandPartials = (definition: DefinitionSyntax) => Iterable<MemberSyntax>;

/** Checks the partials, and returns what replaces `...name` by the members of that partial. */
export function expandPartials(
  partials: ReadonlyMap<string, DefinitionSyntax>,
  report: Report,
): ExpandPartials {
  findCycles(
    partials.keys(),
    (name) =>
      (partials.get(name)?.members ?? []).flatMap((member) =>
        member.kind === "partial" ? [{ to: member.name, position: member.position }] : [],
      ),
    (path, { position }) => report("MODEL_PARTIAL_CYCLE", position, path),
  );
  for (const partial of partials.values()) checkReferences(partial, partials, report);
  return (definition) => {
    checkReferences(definition, partials, report);
    return membersOf(definition, partials, report);
  };
}

function checkReferences(
  { members }: DefinitionSyntax,
  partials: ReadonlyMap<string, DefinitionSyntax>,
  report: Report,
): void {
  for (const member of members) {
    if (member.kind !== "partial" || partials.has(member.name)) continue;
    const { name, position } = member;
    report("MODEL_PARTIAL_UNKNOWN", position, name, suggest(name, partials.keys()));
  }
}

/** Each partial counts once, so that partials which include others twice cannot grow endlessly. */
function* membersOf(
  definition: DefinitionSyntax,
  partials: ReadonlyMap<string, DefinitionSyntax>,
  report: Report,
): Iterable<MemberSyntax> {
  const included = new Set<string>();
  const path = [{ name: "", members: definition.members.values() }];
  for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
    const { value: member, done } = step.members.next();
    if (done) path.pop();
    else if (member.kind !== "partial") yield member;
    else if (included.has(member.name)) {
      const { name, position } = member;
      // A partial that includes itself is reported where it does.
      if (path.some((outer) => outer.name === name)) continue;
      report("MODEL_PARTIAL_REPEATED", position, name, definition.name);
    } else {
      included.add(member.name);
      const partial = partials.get(member.name);
      if (partial) path.push({ name: partial.name, members: partial.members.values() });
    }
  }
}
