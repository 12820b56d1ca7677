/** Everybody whom the table of administration asks about. */
export const CALLERS = {
  // Users of the organization acme, with a relation to its zone.
  owner: "zone `owner`",
  admin: "zone `admin`",
  user_manager: "zone `user_manager`",
  user_viewer: "zone `user_viewer`",
  group_manager: "zone `group_manager`",
  group_viewer: "zone `group_viewer`",
  permission_admin: "zone `permission_admin`",
  // Users of acme, with a relation to the group team.
  group_owner: "group `owner`",
  group_manager_of: "group `manager`",
  group_viewer_of: "group `viewer`",
  group_permission_admin: "group `permission_admin`",
  member: "group `member`",
  // With a relation to the project etl.
  project_owner: "project `owner`",
  developer: "project `developer`",
  nobody: "user of the organization",
  stranger: "`owner` of another zone",
  other_admin: "`admin` of another zone",
  other_manager: "`user_manager` of another zone",
  service_account: "service account, zone `owner`",
  service: "service with `read_types` and `write_types`",
  reading_service: "service with `read_types` only",
  other_service: "service without an entry",
  system: "system token",
} as const;

/** One of them. */
export type Caller = keyof typeof CALLERS;

/** All of them, in the order of the table. */
export const CALLER_NAMES = Object.keys(CALLERS) as Caller[];

/** The relations that users of acme hold: `type:id#relation` by caller. */
export const RELATIONS: Readonly<Partial<Record<Caller, readonly [string, string, string]>>> = {
  owner: ["zone", "acme", "owner"],
  admin: ["zone", "acme", "admin"],
  user_manager: ["zone", "acme", "user_manager"],
  user_viewer: ["zone", "acme", "user_viewer"],
  group_manager: ["zone", "acme", "group_manager"],
  group_viewer: ["zone", "acme", "group_viewer"],
  permission_admin: ["zone", "acme", "permission_admin"],
  group_owner: ["group", "team", "owner"],
  group_manager_of: ["group", "team", "manager"],
  group_viewer_of: ["group", "team", "viewer"],
  group_permission_admin: ["group", "team", "permission_admin"],
  member: ["group", "team", "member"],
  project_owner: ["project", "etl", "owner"],
  developer: ["project", "etl", "developer"],
  stranger: ["zone", "evil", "owner"],
  other_admin: ["zone", "evil", "admin"],
  other_manager: ["zone", "evil", "user_manager"],
};
