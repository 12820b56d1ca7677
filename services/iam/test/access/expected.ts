import type { Row, Targets } from "./row.ts";
import { SERVICE_ACCOUNT_ROWS } from "./service-account-rows.ts";

const MANAGES_USERS = ["owner", "admin", "user_manager"] as const;
const VIEWS_USERS = [...MANAGES_USERS, "user_viewer"] as const;
const VIEWS_GROUPS = ["owner", "admin", "group_manager", "group_viewer"] as const;
const MANAGES_GROUPS = ["owner", "admin", "group_manager"] as const;
const MANAGES_GROUP = [...MANAGES_GROUPS, "group_owner", "group_manager_of"] as const;
const VIEWS_GROUP = [
  ...VIEWS_GROUPS,
  "group_owner",
  "group_manager_of",
  "group_viewer_of",
  "member",
] as const;
const MANAGES_MEMBERS = [...MANAGES_USERS, "group_owner", "group_manager_of"] as const;
/** A relation to a zone counts for whoever holds it; `authz.audience` of an RPC may not. */
const MANAGES_PERMISSIONS = ["owner", "admin", "permission_admin", "service_account"] as const;
const MANAGES_GROUP_PERMISSIONS = [
  ...MANAGES_PERMISSIONS,
  "group_owner",
  "group_permission_admin",
] as const;
const PEOPLE = [
  "owner",
  "admin",
  "user_manager",
  "user_viewer",
  "group_manager",
  "group_viewer",
  "permission_admin",
  "group_owner",
  "group_manager_of",
  "group_viewer_of",
  "group_permission_admin",
  "member",
  "project_owner",
  "developer",
  "nobody",
] as const;
const EVERYBODY = [
  ...PEOPLE,
  "stranger",
  "other_admin",
  "other_manager",
  "service_account",
  "service",
  "reading_service",
  "other_service",
  "system",
] as const;

const READING_SERVICES = ["service", "reading_service"] as const;
const WRITING_SERVICES = ["service"] as const;

const ACME = { organizationId: "acme" };
const ZONE = { type: "zone", id: "acme" };
const someone = { type: "user", id: "someone" };

/** A write of one relationship by people. */
function writes(resource: (targets: Targets) => object, relation: string): Row["request"] {
  return (targets) => ({
    relationships: [
      { resource: resource(targets), relation, subject: { type: "user", id: targets.unique } },
    ],
  });
}

const team = ({ group }: Targets) => ({ type: "group", id: group });
const etl = () => ({ type: "project", id: "etl" });
const zone = () => ZONE;

const USERS = "IAMLocalUserService";
const GROUPS = "IAMGroupService";
const DIRECTORY = "IAMDirectoryService";
const RELATIONSHIPS = "IAMAuthorizationService";
const PERMISSIONS = "IAMPermissionService";
const ORGANIZATIONS = "IAMOrganizationService";
const PROVIDER = "IAMProviderService";

/** The rows of what takes over an account or interrupts it, or changes it. */
function onAccounts(rpc: string, more: (targets: Targets) => object = () => ({})): Row[] {
  const on = (account: (targets: Targets) => string) => (targets: Targets) => ({
    userId: account(targets),
    ...more(targets),
  });
  return [
    { rpc, request: on(({ user }) => user), allowed: MANAGES_USERS },
    {
      rpc,
      about: "an admin of the zone",
      request: on(({ adminUser }) => adminUser),
      allowed: ["owner", "admin"],
    },
    {
      rpc,
      about: "an owner of the zone",
      request: on(({ ownerUser }) => ownerUser),
      allowed: ["owner"],
    },
  ];
}

interface Named {
  readonly type: string;
  readonly id: string;
}

function ownerOf(resource: Named): object {
  return { resource, relation: "owner", subject: someone };
}

/** The rows of what services do, about a type of theirs and the zone. */
function onTypes(
  name: string,
  request: (resource: Named) => object,
  allowed: Row["allowed"] = READING_SERVICES,
): Row[] {
  const rpc = `${PERMISSIONS}/${name}`;
  return [
    { rpc, about: "project", request: () => request(etl()), allowed },
    { rpc, about: "zone", request: () => request(ZONE), allowed: [] },
  ];
}

/** The table: written by hand from the rules of docs/iam.md, and not from what the service answers. */
export const ROWS: readonly Row[] = [
  { rpc: `${DIRECTORY}/GetOrganization`, request: () => ACME, allowed: ["owner", "admin"] },
  { rpc: `${DIRECTORY}/ListUsers`, request: () => ACME, allowed: VIEWS_USERS },
  {
    rpc: `${DIRECTORY}/ListUsers`,
    about: "the members of a group",
    request: ({ group }) => ({ ...ACME, groupId: group }),
    allowed: ["owner", "admin"],
  },
  {
    rpc: `${DIRECTORY}/GetUser`,
    request: ({ user }) => ({ ...ACME, userId: user }),
    allowed: VIEWS_USERS,
  },
  { rpc: `${DIRECTORY}/ListGroups`, request: () => ACME, allowed: VIEWS_GROUPS },

  { rpc: `${USERS}/ListUsers`, request: () => ({}), allowed: VIEWS_USERS },
  { rpc: `${USERS}/GetUser`, request: ({ user }) => ({ userId: user }), allowed: VIEWS_USERS },
  {
    rpc: `${USERS}/CreateUser`,
    request: ({ unique }) => ({
      username: unique,
      displayName: "Somebody",
      email: "somebody@example.com",
      password: "correct horse battery staple",
    }),
    allowed: MANAGES_USERS,
  },
  {
    rpc: `${USERS}/UpdateUser`,
    about: "the name of an owner of the zone",
    request: ({ ownerUser }) => ({ userId: ownerUser, user: { displayName: "Another" } }),
    allowed: MANAGES_USERS,
  },
  ...onAccounts(`${USERS}/UpdateUser`, ({ unique }) => ({
    user: { email: `${unique}@example.com` },
  })).map((row) => ({ ...row, about: `the e-mail address${row.about ? ` of ${row.about}` : ""}` })),
  ...onAccounts(`${USERS}/DisableUser`),
  ...onAccounts(`${USERS}/EnableUser`),
  ...onAccounts(`${USERS}/DeleteUser`),
  ...onAccounts("IAMPasswordService/CreatePasswordResetLink"),
  {
    rpc: "IAMSecondFactorService/RemoveUserSecondFactors",
    request: ({ user }) => ({ userId: user }),
    allowed: ["owner"],
  },
  ...onAccounts("IAMSessionService/EndUserSessions"),
  ...onAccounts("IAMSessionService/EndUserSession", () => ({ sessionId: "unknown" })).map(
    (row) => ({
      ...row,
      code: "not_found",
    }),
  ),
  {
    rpc: "IAMSessionService/ListUserSessions",
    request: ({ ownerUser }) => ({ userId: ownerUser }),
    allowed: MANAGES_USERS,
  },

  ...SERVICE_ACCOUNT_ROWS,

  {
    rpc: `${GROUPS}/CreateGroup`,
    about: "at the top",
    request: () => ({ ...ACME, displayName: "New" }),
    allowed: [...MANAGES_GROUPS, "service_account"],
  },
  {
    rpc: `${GROUPS}/CreateGroup`,
    about: "below the group",
    request: ({ group }) => ({ ...ACME, parentId: group, displayName: "New" }),
    allowed: [...MANAGES_GROUP, "service_account"],
  },
  {
    rpc: `${GROUPS}/ListVisibleGroups`,
    about: "those that the caller may view",
    request: () => ACME,
    allowed: EVERYBODY,
  },
  {
    rpc: `${GROUPS}/GetGroup`,
    request: ({ group }) => ({ ...ACME, groupId: group }),
    allowed: VIEWS_GROUP,
  },
  {
    rpc: `${GROUPS}/ListMembers`,
    request: ({ group }) => ({ ...ACME, groupId: group }),
    allowed: VIEWS_GROUP,
  },
  {
    rpc: `${GROUPS}/UpdateGroup`,
    request: ({ group }) => ({ ...ACME, groupId: group, group: { displayName: "Another" } }),
    allowed: MANAGES_GROUP,
  },
  {
    rpc: `${GROUPS}/AddMember`,
    request: ({ group }) => ({ ...ACME, groupId: group, member: someone }),
    allowed: MANAGES_MEMBERS,
  },
  {
    rpc: `${GROUPS}/RemoveMember`,
    request: ({ group }) => ({ ...ACME, groupId: group, member: someone }),
    allowed: MANAGES_MEMBERS,
  },
  {
    rpc: `${GROUPS}/MoveGroup`,
    about: "to the top",
    request: ({ group }) => ({ ...ACME, groupId: group }),
    allowed: MANAGES_GROUPS,
  },
  {
    rpc: `${GROUPS}/DeleteGroup`,
    request: ({ group }) => ({ ...ACME, groupId: group }),
    allowed: MANAGES_GROUP,
  },

  {
    rpc: `${RELATIONSHIPS}/WriteRelationships`,
    about: "zone `user_viewer`",
    request: writes(zone, "user_viewer"),
    allowed: MANAGES_PERMISSIONS,
  },
  {
    rpc: `${RELATIONSHIPS}/WriteRelationships`,
    about: "zone `admin`",
    request: writes(zone, "admin"),
    allowed: ["owner", "admin", "service_account"],
  },
  {
    rpc: `${RELATIONSHIPS}/WriteRelationships`,
    about: "zone `owner`",
    request: writes(zone, "owner"),
    allowed: ["owner", "service_account"],
  },
  {
    rpc: `${RELATIONSHIPS}/WriteRelationships`,
    about: "group `viewer`",
    request: writes(team, "viewer"),
    allowed: MANAGES_GROUP_PERMISSIONS,
  },
  {
    rpc: `${RELATIONSHIPS}/WriteRelationships`,
    about: "group `owner`",
    request: writes(team, "owner"),
    allowed: ["owner", "group_owner", "service_account"],
  },
  {
    rpc: `${RELATIONSHIPS}/WriteRelationships`,
    about: "group `member`",
    request: writes(team, "member"),
    allowed: [...MANAGES_MEMBERS, "service_account"],
  },
  {
    rpc: `${RELATIONSHIPS}/WriteRelationships`,
    about: "group `parent`",
    request: ({ group }) => ({
      relationships: [
        {
          resource: { type: "group", id: group },
          relation: "parent",
          subject: { type: "group", id: "other" },
        },
      ],
    }),
    allowed: [],
  },
  {
    rpc: `${RELATIONSHIPS}/WriteRelationships`,
    about: "project `viewer`",
    request: writes(etl, "viewer"),
    allowed: ["project_owner"],
  },
  {
    rpc: `${RELATIONSHIPS}/WriteRelationships`,
    about: "project `owner`",
    request: writes(etl, "owner"),
    allowed: ["project_owner"],
  },
  {
    rpc: `${RELATIONSHIPS}/WriteRelationships`,
    about: "deletes the project `owner` of the group's members",
    request: ({ group }) => ({
      deletions: [
        {
          resource: etl(),
          relation: "owner",
          subject: { type: "group", id: group, relation: "member" },
        },
      ],
    }),
    allowed: [...MANAGES_GROUP_PERMISSIONS, "project_owner"],
  },
  {
    rpc: `${RELATIONSHIPS}/CheckPermission`,
    about: "of the caller",
    request: () => ({ resource: ZONE, permission: "view_zone" }),
    allowed: EVERYBODY,
  },
  {
    rpc: `${RELATIONSHIPS}/CheckPermission`,
    about: "of another on the zone",
    request: () => ({ resource: ZONE, permission: "view_zone", subject: someone }),
    allowed: MANAGES_PERMISSIONS,
  },
  {
    rpc: `${RELATIONSHIPS}/CheckPermission`,
    about: "of another on the group",
    request: (targets) => ({ resource: team(targets), permission: "view", subject: someone }),
    allowed: MANAGES_GROUP_PERMISSIONS,
  },
  {
    rpc: `${RELATIONSHIPS}/CheckPermission`,
    about: "of another on the project",
    request: () => ({ resource: etl(), permission: "read", subject: someone }),
    allowed: ["project_owner"],
  },
  {
    rpc: `${RELATIONSHIPS}/ExplainPermission`,
    about: "of another on the zone",
    request: () => ({ resource: ZONE, permission: "view_zone", subject: someone }),
    allowed: MANAGES_PERMISSIONS,
  },
  {
    rpc: `${RELATIONSHIPS}/ExplainPermission`,
    about: "of another on the group",
    request: (targets) => ({ resource: team(targets), permission: "view", subject: someone }),
    allowed: MANAGES_GROUP_PERMISSIONS,
  },
  {
    rpc: `${RELATIONSHIPS}/ListAccess`,
    about: "to the zone",
    request: () => ({ resource: ZONE, permission: "view_zone" }),
    allowed: MANAGES_PERMISSIONS,
  },
  {
    rpc: `${RELATIONSHIPS}/ListAccess`,
    about: "to the group",
    request: (targets) => ({ resource: team(targets), permission: "view" }),
    allowed: MANAGES_GROUP_PERMISSIONS,
  },
  {
    rpc: `${RELATIONSHIPS}/ListAccess`,
    about: "to the project",
    request: () => ({ resource: etl(), permission: "read" }),
    allowed: ["project_owner"],
  },
  {
    rpc: `${RELATIONSHIPS}/ListRelationships`,
    about: "those of objects whose relationships the caller may see",
    request: () => ({ resourceType: "zone" }),
    allowed: EVERYBODY,
  },
  {
    rpc: `${RELATIONSHIPS}/ListRelationships`,
    about: "what the group's members were granted",
    request: ({ group }) => ({
      resourceType: "project",
      subject: { type: "group", id: group, relation: "member" },
    }),
    allowed: MANAGES_GROUP_PERMISSIONS,
  },

  ...onTypes("CheckPermission", (resource) => ({
    resource,
    permission: "owner",
    subject: someone,
  })),
  ...onTypes("CheckBulkPermissions", (resource) => ({
    checks: [{ resource, permission: "owner", subject: someone }],
  })),
  ...onTypes("CheckAnyPermission", ({ type }) => ({
    resourceType: type,
    permission: "owner",
    subject: someone,
  })),
  ...onTypes("ExplainPermission", (resource) => ({
    resource,
    permission: "owner",
    subject: someone,
  })),
  ...onTypes("LookupResources", ({ type }) => ({
    resourceType: type,
    permission: "owner",
    subject: someone,
  })),
  ...onTypes("LookupSubjects", (resource) => ({
    resource,
    permission: "owner",
    subjectType: "user",
  })),
  ...onTypes("ReadRelationships", ({ type }) => ({ filter: { resourceType: type } })),
  ...onTypes(
    "WriteRelationship",
    (resource) => ({ relationship: ownerOf(resource) }),
    WRITING_SERVICES,
  ),
  ...onTypes(
    "DeleteRelationship",
    (resource) => ({ relationship: ownerOf(resource) }),
    WRITING_SERVICES,
  ),
  ...onTypes(
    "WriteRelationships",
    (resource) => ({
      updates: [{ operation: "RELATIONSHIP_OPERATION_TOUCH", relationship: ownerOf(resource) }],
    }),
    WRITING_SERVICES,
  ),
  {
    rpc: `${PERMISSIONS}/WatchRelationships`,
    about: "of the types that the service reads",
    request: () => ({}),
    allowed: READING_SERVICES,
    isStream: true,
  },
  { rpc: `${PERMISSIONS}/GetModel`, request: () => ({}), allowed: READING_SERVICES },

  {
    rpc: `${ORGANIZATIONS}/CreateOrganization`,
    request: ({ unique }) => ({ organizationId: unique, displayName: "New" }),
    allowed: ["system"],
  },
  { rpc: `${ORGANIZATIONS}/ListOrganizations`, request: () => ({}), allowed: ["system"] },
  ...["GetOrganization", "UpdateOrganization", "DeleteOrganization"].map(
    (name): Row => ({
      rpc: `${ORGANIZATIONS}/${name}`,
      request: () => ({ organizationId: "unknown" }),
      allowed: ["system"],
      code: "not_found",
    }),
  ),

  { rpc: `${PROVIDER}/ListClients`, request: () => ({}), allowed: ["system"] },
  { rpc: `${PROVIDER}/PlanClients`, request: () => ({}), allowed: ["system"] },
  { rpc: `${PROVIDER}/ApplyClients`, request: () => ({}), allowed: ["system"] },
  {
    rpc: `${PROVIDER}/RotateSigningKey`,
    request: () => ({}),
    allowed: ["system"],
    code: "failed_precondition",
  },

  { rpc: "IAMAuditService/ListAuditEvents", request: () => ({}), allowed: ["owner", "admin"] },
  {
    rpc: "IAMAuditService/ExportAuditEvents",
    request: () => ({ filter: { type: "none" } }),
    allowed: ["owner", "admin"],
    isStream: true,
  },
  {
    rpc: "IAMAuditService/FollowAuditEvents",
    request: () => ({}),
    allowed: ["owner", "admin"],
    isStream: true,
    isEndless: true,
  },
];

/** RPCs that everybody calls about themselves, or that other tables have. */
export const ELSEWHERE: readonly string[] = [
  "IAMAuthService",
  "IAMRevocationService",
  "IAMPasswordService/ChangeMyPassword",
  "IAMSessionService/ListMySessions",
  "IAMSessionService/EndMySession",
  "IAMSessionService/EndMyOtherSessions",
];
