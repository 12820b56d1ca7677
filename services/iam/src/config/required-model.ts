import type { Model } from "svc-access/authz";

/**
 * What svc-iam names in its policies and rules, and model/iam.zed defines: each type, and what it must have. A
 * platform's model may have more.
 */
export const REQUIRED_MODEL: Readonly<Record<string, readonly string[]>> = {
  user: [],
  service: [],
  service_account: [],
  zone: [
    "owner",
    "admin",
    "user_viewer",
    "user_manager",
    "group_viewer",
    "group_manager",
    "permission_admin",
    "view_zone",
    "view_users",
    "manage_users",
    "view_groups",
    "create_groups",
    "manage_groups",
    "view_permissions",
    "manage_permissions",
  ],
  group: [
    "zone",
    "parent",
    "member",
    "owner",
    "manager",
    "viewer",
    "permission_admin",
    "view",
    "manage",
    "create_child_groups",
    "manage_members",
    "view_permissions",
    "manage_permissions",
  ],
};

/** The types that a model lacks, or the members of those that it has, such as `zone#owner`; empty if it is complete. */
export function missingOfModel({ definitions }: Pick<Model, "definitions">): readonly string[] {
  return Object.entries(REQUIRED_MODEL).flatMap(([type, names]) => {
    const definition = definitions.get(type);
    if (definition === undefined) return [type];
    const { relations, permissions } = definition;
    return names
      .filter((name) => !relations.has(name) && !permissions.has(name))
      .map((name) => `${type}#${name}`);
  });
}
