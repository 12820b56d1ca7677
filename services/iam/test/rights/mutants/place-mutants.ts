import { changed, type Mutant, without } from "./mutant.ts";

const RULES = "rights/relationship-rules.ts";
const PLACES = "api/groups/place-rights.ts";
const MOVES = "api/groups/move-rights.ts";
const DELETION = "api/groups/group-deletion.ts";
const HEIRS = 'for (const relation of ["owner", "manager", "permission_admin"] as const) {';

/** The rules of places, and of groups. */
export const PLACE_MUTANTS: readonly Mutant[] = [
  changed(
    "the zone and the parent of a group are written by CreateGroup and MoveGroup only",
    RULES,
    ['if (type === "group" && this.#model.places(type).has(relation)) {', "if (false) {"],
  ),
  without(
    "a new place needs the right to the former one",
    RULES,
    'needed.push(...former.map((object) => ({ object, relation: "" })));',
  ),
  without(
    "a new place needs the right to it",
    RULES,
    'needed.push({ object: relationship.subject, relation: "" });',
  ),
  without(
    "a new place makes nobody an owner or admin whom the caller may not make that",
    RULES,
    "await handover.assertAllowed(relationship.resource, relationship.subject);",
  ),
  changed("a group is made and moved by whoever may create groups at its place", PLACES, [
    "if (!decided.allowed) {",
    "if (false) {",
  ]),
  {
    rule: "a group stays within its zone",
    edits: [
      { file: PLACES, text: "if (parent.organizationId !== organizationId) {", by: "if (false) {" },
      {
        file: "api/groups/group-creation.ts",
        text: "return [...preconditions, mustExist(zoneOf(parentId, organizationId))];",
        by: "return preconditions;",
      },
    ],
  },
  changed("a move hands down what the caller may grant", "api/groups/group-moves.ts", [
    "...(await rights.assertMayHandDown(caller, moved, signal)),",
    "",
  ]),
  changed("a move hands down no owner whom the caller may not make that", MOVES, [
    HEIRS,
    HEIRS.replace('"owner", ', ""),
  ]),
  changed("a move hands down no manager whom the caller may not make that", MOVES, [
    HEIRS,
    HEIRS.replace('"manager", ', ""),
  ]),
  changed("a move hands down no permission_admin whom the caller may not make that", MOVES, [
    HEIRS,
    HEIRS.replace(', "permission_admin"', ""),
  ]),
  changed("a group is deleted by whoever may revoke what its members were granted", DELETION, [
    "const revoked = deletions(held.filter(isPower));",
    "const revoked = [];",
  ]),
  without(
    "a group is deleted by whoever may take the zone relations of its members",
    RULES,
    'await this.#assertSets(decision, [{ object: group, relation: "member" }], this.#model.ofZones);',
  ),
  changed(
    "a group with groups below it is not deleted",
    DELETION,
    ["if (await tree.hasChildren(id, signal)) throw hasChildren();", ""],
    ['{ kind: "MUST_NOT_MATCH", filter: childrenFilter(id) },', ""],
  ),
];
