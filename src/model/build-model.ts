import { expandPartials } from "./expand-partials.ts";
import type { Definition, Model, Permission, Relation } from "./model.ts";
import type { Position } from "./position.ts";
import type { Report } from "./reporter.ts";
import type { DefinitionSyntax, MemberSyntax, SchemaSyntax } from "./syntax/schema-syntax.ts";

/** Names the statements of a schema and expands its partials; of two with a name the first stays. */
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

/** Definitions, partials and caveats share one space of names. */
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
