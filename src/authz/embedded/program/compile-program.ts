import type { Model } from "../../../model/index.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import { combiningNodes, reachableTypes } from "./analyse-nodes.ts";
import { collectGrants } from "./collect-grants.ts";
import { compileNodes } from "./compile-nodes.ts";
import { findGroups } from "./find-groups.ts";
import { findRecursion, invertRecursion, recurringRelations } from "./find-recursion.ts";
import { layoutPairs } from "./pair-layout.ts";
import type { Member, Names, Program } from "./program.ts";

/**
 * Compiles a model that has no errors.
 *
 * @throws AuthzError UNIMPLEMENTED for caveats and expiring relationships
 */
export function compileProgram(model: Model): Program {
  refuseTraits(model);
  const names = nameMembers(model);
  const groups = findGroups(model, names);
  const nodes = compileNodes(model, names, groups);
  const recursion = findRecursion(model, names);
  const grants = collectGrants(model, names);
  return {
    ...names,
    typeNames: [...model.definitions.keys()],
    nodes,
    reaches: reachableTypes(model, names, nodes),
    combines: combiningNodes(names, nodes, model),
    recursion,
    recursionInto: invertRecursion(recursion),
    recurringRelations: recurringRelations(recursion),
    ...grants,
    groups,
    layout: layoutPairs({ ...names, ...grants }),
  };
}

function refuseTraits(model: Model): void {
  for (const { name: type, relations } of model.definitions.values()) {
    for (const { name, subjects } of relations.values()) {
      for (const { caveat, expiration } of subjects) {
        if (caveat === undefined && !expiration) continue;
        const trait = caveat === undefined ? "an expiration" : `the caveat ${caveat}`;
        throw new AuthzError(
          "UNIMPLEMENTED",
          `${type}#${name} accepts subjects with ${trait}, which the embedded engine does not evaluate; use the spicedb engine`,
        );
      }
    }
  }
}

function nameMembers(model: Model): Names {
  const typeIds = new Map([...model.definitions.keys()].map((name, id) => [name, id]));
  const members: Member[] = [{ id: 0, type: -1, name: "...", isRelation: false }];
  const memberIds = [...model.definitions.values()].map(({ relations, permissions }, type) => {
    const ids = new Map<string, number>();
    for (const name of [...relations.keys(), ...permissions.keys()]) {
      const id = members.length;
      members.push({ id, type, name, isRelation: relations.has(name) });
      ids.set(name, id);
    }
    return ids;
  });
  return { typeIds, members, memberIds };
}
