import { changed, type Mutant, without } from "./mutant.ts";

const RULES = "rights/relationship-rules.ts";
const CALLER = "rights/caller-rights.ts";
const MODEL = "rights/rights-model.ts";
const STRONG = "rights/strong-relations.ts";

/** The rules of writes of relationships, and of members. */
export const RELATIONSHIP_MUTANTS: readonly Mutant[] = [
  changed(
    "a write needs a permission on its object",
    CALLER,
    ["if (refused !== undefined) return refused.of;", ""],
    ["for (const { check } of asked) this.rely(check);", ""],
  ),
  changed("relations of a zone or a group need manage_permissions", MODEL, [
    'ADMINISTERED.has(type) ? "manage_permissions" : "manage"',
    'type === "zone" ? "manage_groups" : "manage"',
  ]),
  changed("members of a group need manage_members", MODEL, [
    'return this.#known(type, "manage_members");',
    'return this.#known(type, "view");',
  ]),
  without(
    "an owner or admin needs a rank",
    CALLER,
    "if (isRank(of.relation) && !(await this.mayRank(of.object, of.relation))) return of;",
  ),
  changed("an owner is granted by owners", CALLER, [
    'owner: ["owner"],',
    'owner: ["owner", "admin"],',
  ]),
  changed("an admin is granted by owners and admins", CALLER, [
    'admin: ["owner", "admin"],',
    'admin: ["owner", "admin", "permission_admin"],',
  ]),
  without(
    "a new member needs the right to what the members hold",
    RULES,
    "await this.#assertMembers(decision, writes, this.#model.strong);",
  ),
  changed("the permission_admin of a zone counts for a new member", MODEL, [
    '["permission_admin", "user_manager"] as const',
    '["user_manager"] as const',
  ]),
  changed("the user_manager of a zone counts for a new member", MODEL, [
    '["permission_admin", "user_manager"] as const',
    '["permission_admin"] as const',
  ]),
  changed("what members hold on objects of any type counts", MODEL, [
    'const names = type === "zone"',
    'if (type !== "zone") continue;\n    const names = type === "zone"',
  ]),
  changed("what members hold by other groups counts", STRONG, [
    "const found = await this.#reads.objectsOf(held.type, held.relation, subject, MOST);",
    `const direct = { resourceType: held.type, relation: held.relation, subject };
      const found = (await this.#reads.relationships(direct, MOST)).map(({ resource }) => resource);`,
  ]),
  without(
    "nobody takes from others the relations of a zone that they hold by a group",
    RULES,
    "await this.#assertMembers(decision, taken, this.#model.ofZones);",
  ),
  changed("each relation of a zone protects its holders", MODEL, [
    'return (this.relations("zone") ?? []).map((relation) => ({ type: "zone", relation }));',
    'return this.#strong.filter(({ type }) => type === "zone");',
  ]),
  changed(
    "a group gives up relations by its administrators",
    "rights/releases.ts",
    [
      "const held = [...checks].filter((_, index) => allowed[index] === true);",
      "const held = [...checks];",
    ],
    ["for (const [, check] of held) this.#rights.rely(check);", ""],
  ),
  {
    rule: "the first relationship of an object is made by its service",
    edits: [
      {
        file: CALLER,
        text: "const refused = asked.find((_, index) => allowed[index] !== true);",
        by: `const made = await Promise.all(
          asked.map(({ check: { resource } }) =>
            this.#reads.exists({ resourceType: resource.type, resourceId: resource.id }),
          ),
        );
        const refused = asked.find((_, index) => made[index] && allowed[index] !== true);`,
      },
      { file: CALLER, text: "for (const { check } of asked) this.rely(check);", by: "" },
      { file: RULES, text: "...named(writes, path), ", by: "" },
    ],
  },
];
