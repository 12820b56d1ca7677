import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { formatExpression, formatSubject, parseModel } from "../../src/model/index.ts";

const file = new URL("../../model/iam.zed", import.meta.url);
const { model, diagnostics } = parseModel(readFileSync(file, "utf8"), "iam.zed");

// "S" stands for any subject, "UG" for users and groups.
const S = ["user", "service", "service_account", "group#member"];
const UG = ["user", "group#member"];

function everyone(names: string, subjects: readonly string[]): [string, readonly string[]][] {
  return names.split(", ").map((name) => [name, subjects]);
}

/** Type by type: the accepted subjects of each relation, and what grants each permission. */
const SPECIFIED: Record<
  string,
  { relations: [string, readonly string[]][]; permissions: [string, string][] }
> = {
  user: { relations: [], permissions: [] },
  service: { relations: [], permissions: [] },
  service_account: { relations: [], permissions: [] },
  zone: {
    relations: everyone(
      "owner, admin, user_viewer, user_manager, group_viewer, group_manager, permission_admin",
      S,
    ),
    permissions: [
      ["view_zone", "owner, admin"],
      ["view_users", "owner, admin, user_viewer, user_manager"],
      ["manage_users", "owner, admin, user_manager"],
      ["view_groups", "owner, admin, group_viewer, group_manager"],
      ["create_groups", "owner, admin, group_manager"],
      ["manage_groups", "owner, admin, group_manager"],
      ["view_permissions", "owner, admin, permission_admin"],
      ["manage_permissions", "owner, admin, permission_admin"],
    ],
  },
  group: {
    relations: [
      ["zone", ["zone"]],
      ["parent", ["group"]],
      ...everyone("member, owner, manager, viewer, permission_admin", S),
    ],
    permissions: [
      ["view", "member, viewer, manager, owner, zone->view_groups, parent->view"],
      ["manage", "owner, manager, zone->manage_groups, parent->manage"],
      ["create_child_groups", "owner, manager, zone->create_groups, parent->create_child_groups"],
      ["manage_members", "owner, manager, zone->manage_users, parent->manage_members"],
      [
        "view_permissions",
        "owner, permission_admin, zone->view_permissions, parent->view_permissions",
      ],
      [
        "manage_permissions",
        "owner, permission_admin, zone->manage_permissions, parent->manage_permissions",
      ],
    ],
  },
  project: {
    relations: [
      ["parent", ["organization"]],
      ...everyone("owner, admin, developer, operator, viewer", UG),
    ],
    permissions: [
      ["manage", "owner, admin, parent->manage"],
      ["write", "manage, developer"],
      ["operate", "manage, operator"],
      ["read", "write, operate, viewer, parent->view"],
    ],
  },
  skill: {
    relations: [["parent", ["skill_space"]], ...everyone("owner, editor, reviewer, viewer", UG)],
    permissions: [
      ["manage", "owner, parent->manage"],
      ["edit", "manage, editor, parent->edit"],
      ["review", "manage, reviewer"],
      ["publish", "manage, reviewer"],
      ["view", "edit, viewer, parent->view"],
    ],
  },
  // What projects and skills refer to, with no more than that needs and a way to the zone.
  organization: {
    relations: [["zone", ["zone"]], ...everyone("owner, admin, viewer", UG)],
    permissions: [
      ["manage", "owner, admin"],
      ["view", "manage, viewer"],
    ],
  },
  skill_space: {
    relations: [["zone", ["zone"]], ...everyone("owner, editor, viewer", UG)],
    permissions: [
      ["manage", "owner"],
      ["edit", "manage, editor"],
      ["view", "edit, viewer"],
    ],
  },
};

test("the model has no errors, and the types of the platform", () => {
  expect(diagnostics).toEqual([]);
  expect([...model.definitions.keys()].sort()).toEqual(Object.keys(SPECIFIED).sort());
  expect(model.caveats.size).toBe(0);
});

describe.each(Object.entries(SPECIFIED))("%s", (type, { relations, permissions }) => {
  const definition = model.definitions.get(type);

  test("has its relations, and no others [MODEL-2]", () => {
    const found = [...(definition?.relations.values() ?? [])].map(({ name, subjects }) => [
      name,
      subjects.map(formatSubject),
    ]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(relations));
  });

  test("has its permissions, and no others [MODEL-2]", () => {
    const found = [...(definition?.permissions.values() ?? [])].map(({ name, expression }) => [
      name,
      formatExpression(expression),
    ]);
    const expected = permissions.map(([name, grants]) => [name, grants.replaceAll(", ", " + ")]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  });
});
