import type { Definition, Model, Permission, Position, Relation } from "../schema/model.ts";
import { type Report, suggest } from "../syntax/reporter.ts";
import type { DefinitionSyntax, MemberSyntax, SchemaSyntax } from "../syntax/schema-syntax.ts";
import { findCycles } from "./cycles.ts";

/** Names the statements of a schema and expands its partials; of two statements with one name, it keeps the first. */
export function buildModel(syntax: SchemaSyntax, report: Report): Model {
  const first = firstOfEachName(syntax, report);
  const isFirst = ({ name, position }: Named) => first.get(name)?.position === position;
  const partials = byName(syntax.partials.filter(isFirst));
  const expand = expandPartials(partials, report);
  const definitions = syntax.definitions
    .filter(isFirst)
    .map((definition) => buildDefinition(definition, expand(definition), report));
  return { definitions: byName(definitions), caveats: byName(syntax.caveats.filter(isFirst)) };
}

interface Named {
  readonly name: string;
  readonly position: Position;
}

/** Definitions, partials and caveats share one namespace. */
function firstOfEachName(syntax: SchemaSyntax, report: Report): ReadonlyMap<string, Named> {
  const declared = [
    ...syntax.definitions.map(({ name, position }) => ({ what: "definition", name, position })),
    ...syntax.partials.map(({ name, position }) => ({ what: "partial", name, position })),
    ...syntax.caveats.map(({ name, position }) => ({ what: "caveat", name, position })),
  ].sort(({ position: a }, { position: b }) => a.line - b.line || a.column - b.column);
  const first = new Map<string, Named>();
  for (const { what, name, position } of declared) {
    const other = first.get(name);
    if (other === undefined) first.set(name, { name, position });
    else report("MODEL_DEFINITION_DUPLICATE", position, what, name, other.position.line);
  }
  return first;
}

function byName<T extends Named>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.name, item]));
}

function buildDefinition(
  { name: type, position }: DefinitionSyntax,
  members: Iterable<MemberSyntax>,
  report: Report,
): Definition {
  const relations = new Map<string, Relation>();
  const permissions = new Map<string, Permission>();
  for (const member of members) {
    if (member.kind === "partial") continue;
    const declared = member.kind === "relation" ? member.relation : member.permission;
    const { name } = declared;
    const first = relations.get(name) ?? permissions.get(name);
    if (first !== undefined) {
      const { line } = first.position;
      report("MODEL_RELATION_DUPLICATE", declared.position, member.kind, name, type, line);
    } else if (member.kind === "relation") relations.set(name, member.relation);
    else permissions.set(name, member.permission);
  }
  return { name: type, relations, permissions, position };
}

/** Yields the relations and permissions of a definition, including those of its partials. */
export type ExpandPartials = (definition: DefinitionSyntax) => Iterable<MemberSyntax>;

/** Checks the partials, and returns what replaces `...name` by the members of that partial. */
function expandPartials(
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

/** Each partial is expanded once, so that repeated includes cannot grow exponentially. */
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
      // A partial that includes itself is reported at that reference.
      if (path.some((outer) => outer.name === name)) continue;
      report("MODEL_PARTIAL_REPEATED", position, name, definition.name);
    } else {
      included.add(member.name);
      const partial = partials.get(member.name);
      if (partial) path.push({ name: partial.name, members: partial.members.values() });
    }
  }
}
