import type { Model } from "svc-access/authz";

/** What a type must have. */
interface Required {
  readonly relations: readonly string[];
  readonly permissions: readonly string[];
}

const NOTHING: Required = { relations: [], permissions: [] };

/**
 * What svc-iam names in its policies and rules, and model/iam.zed defines. A platform's model may have more, but not
 * less: who is granted what is written as these relations.
 */
export const REQUIRED_MODEL: Readonly<Record<string, Required>> = {
  user: NOTHING,
  service: NOTHING,
  service_account: NOTHING,
  zone: {
    relations: [
      "owner",
      "admin",
      "user_viewer",
      "user_manager",
      "group_viewer",
      "group_manager",
      "permission_admin",
    ],
    permissions: [
      "view_zone",
      "view_users",
      "manage_users",
      "view_groups",
      "create_groups",
      "manage_groups",
      "view_permissions",
      "manage_permissions",
    ],
  },
  group: {
    relations: ["zone", "parent", "member", "owner", "manager", "viewer", "permission_admin"],
    permissions: [
      "view",
      "manage",
      "create_child_groups",
      "manage_members",
      "view_permissions",
      "manage_permissions",
    ],
  },
};

/** The types that a model lacks, or the members of those that it has, such as `the relation zone#owner`. */
export function missingOfModel({ definitions }: Pick<Model, "definitions">): readonly string[] {
  return Object.entries(REQUIRED_MODEL).flatMap(([type, { relations, permissions }]) => {
    const definition = definitions.get(type);
    if (definition === undefined) return [`the type ${type}`];
    return [
      ...relations
        .filter((name) => !definition.relations.has(name))
        .map((name) => `the relation ${type}#${name}`),
      ...permissions
        .filter((name) => !definition.permissions.has(name))
        .map((name) => `the permission ${type}#${name}`),
    ];
  });
}
