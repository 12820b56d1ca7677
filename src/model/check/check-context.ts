import { type Definition, type Model, memberKey, type Position } from "../schema/model.ts";
import { type Report, suggest } from "../syntax/reporter.ts";

/** The input of a check. */
export interface CheckContext {
  readonly model: Model;
  /** Statements with unknown content; see `SchemaSyntax.broken`. */
  readonly broken: ReadonlySet<object>;
  /** The wildcard that each relation accepts, directly or through usersets; see `findWildcards`. */
  readonly wildcards: ReturnType<typeof findWildcards>;
  readonly report: Report;
}

/** Reports a relation or permission that a type lacks, with a suggestion. */
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

/** A wildcard such as `user:*`, and the relation that accepts it. */
export interface WildcardSource {
  readonly type: string;
  readonly relation: string;
  readonly wildcard: string;
}

/**
 * The wildcard that each relation accepts, directly or through the usersets it accepts, by
 * `memberKey`. As in SpiceDB, a userset of a permission hides the wildcards that it leads to.
 */
export function findWildcards(model: Model): ReadonlyMap<string, WildcardSource> {
  const found = new Map<string, WildcardSource>();
  const acceptedBy = new Map<string, string[]>();
  for (const { name: type, relations } of model.definitions.values()) {
    for (const { name: relation, subjects } of relations.values()) {
      const key = memberKey(type, relation);
      for (const subject of subjects) {
        if (subject.wildcard) {
          if (!found.has(key)) found.set(key, { type, relation, wildcard: `${subject.type}:*` });
        } else if (subject.relation !== undefined) {
          const userset = memberKey(subject.type, subject.relation);
          const users = acceptedBy.get(userset);
          if (users) users.push(key);
          else acceptedBy.set(userset, [key]);
        }
      }
    }
  }
  // A map also yields entries that are added during the iteration, so this finds transitive references.
  for (const [userset, source] of found) {
    for (const key of acceptedBy.get(userset) ?? []) if (!found.has(key)) found.set(key, source);
  }
  return found;
}
