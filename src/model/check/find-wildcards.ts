import { memberKey } from "../member-key.ts";
import type { Model } from "../model.ts";

/** A wildcard such as `user:*`, and the relation that accepts it. */
export interface WildcardSource {
  readonly type: string;
  readonly relation: string;
  readonly wildcard: string;
}

/**
 * The wildcard that each relation accepts, directly or through the usersets it accepts, by
 * `memberKey`. As in SpiceDB, a userset of a permission hides the wildcards behind it.
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
  // A map yields what is added while it is read, so this reaches all users of users.
  for (const [userset, source] of found) {
    for (const key of acceptedBy.get(userset) ?? []) if (!found.has(key)) found.set(key, source);
  }
  return found;
}
