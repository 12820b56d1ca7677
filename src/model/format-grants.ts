import type { ArrowGrant, Grant, PermissionGrants } from "./grants.ts";
import { formatSubject } from "./schema/model.ts";

/**
 * Explains what grants a permission, as lines of text.
 *
 * @example
 * ```text
 * group#manage is held by any of
 *   owner: user, service
 *   zone->manage_groups: all who hold manage_groups on its zone (type zone)
 * ```
 */
export function formatGrants({ type, permission, grant }: PermissionGrants): string[] {
  if (grant.kind === "any" && grant.grants.length === 0) {
    return [`${type}#${permission} is held by nobody`];
  }
  return formatGrant(grant, `${type}#${permission} is held by `, "");
}

/** @param lead - the start of the first line; the other lines are indented below it */
function formatGrant(grant: Grant, lead: string, indent: string): string[] {
  const inner = `${indent}  `;
  switch (grant.kind) {
    case "any":
    case "all": {
      if (grant.grants.length === 0) return [`${indent}${lead}nobody`];
      const head = `${indent}${lead}${grant.kind === "any" ? "any of" : "those in all of"}`;
      return [head, ...grant.grants.flatMap((part) => formatGrant(part, "", inner))];
    }
    case "except":
      return [
        ...formatGrant(grant.grant, lead, indent),
        ...formatGrant(grant.except, "but not ", indent),
      ];
    case "relation": {
      const subjects = grant.subjects.map(formatSubject).join(", ");
      return [`${indent}${lead}${grant.relation}${pathText(grant.through)}: ${subjects}`];
    }
    case "arrow":
      return [`${indent}${lead}${arrowText(grant)}`];
    case "self":
      return [`${indent}${lead}the ${grant.type} itself${pathText(grant.through)}`];
    case "permission":
      return [`${indent}${lead}${grant.permission}${pathText(grant.through)}: see there`];
  }
}

function arrowText(grant: ArrowGrant): string {
  const { relation, permission, types, through } = grant;
  const all = grant.function === "all";
  const name = all ? `${relation}.all(${permission})` : `${relation}->${permission}`;
  if (types.length === 0) return `${name}${pathText(through)}: nobody`;
  const object = all ? `every ${relation}` : `its ${relation}`;
  const kinds = `${types.length === 1 ? "type" : "types"} ${types.join(", ")}`;
  return `${name}${pathText(through)}: all who hold ${permission} on ${object} (${kinds})`;
}

function pathText(through: readonly string[]): string {
  return through.length === 0 ? "" : `, through ${through.join(" > ")}`;
}
