import type { Model } from "../../../model/index.ts";
import type { SubjectReference } from "../../../model/relationship.ts";
import { reachableMembers } from "../../../model/schema/dependencies.ts";
import { AuthzError } from "../../engine/authz-error.ts";

/**
 * Refuses to ask SpiceDB about a userset where a wildcard of its type may decide.
 *
 * For SpiceDB 1.54. A check includes `group:eng#member` in `group:*`; lookups, correctly, do not.
 *
 * @throws AuthzError UNIMPLEMENTED
 */
export function refuseAmongWildcards(
  model: Model,
  type: string,
  permission: string,
  subject: Pick<SubjectReference, "type" | "relation">,
): void {
  if (subject.relation === undefined) return;
  for (const member of reachableMembers(model, type, permission)) {
    const [type = "", name = ""] = member.split("#");
    const subjects = model.definitions.get(type)?.relations.get(name)?.subjects ?? [];
    if (!subjects.some(({ wildcard, type }) => wildcard && type === subject.type)) continue;
    throw new AuthzError(
      "UNIMPLEMENTED",
      `SpiceDB would take ${subject.type}#${subject.relation} for one of ${subject.type}:*, which ${member} accepts; check objects instead`,
    );
  }
}
