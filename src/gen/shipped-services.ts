// Generated from proto/svc/iam/v1 by npm run generate. DO NOT EDIT.

/** The services whose protos this package ships, by their full names, each with its RPCs. */
export const SHIPPED_RPCS: Readonly<Record<string, readonly string[]>> = {
  "svc.iam.v1.IAMAuditService": [
    "ListAuditEvents",
    "ExportAuditEvents",
    "FollowAuditEvents"
  ],
  "svc.iam.v1.IAMAuthService": [
    "BuildLoginURL",
    "ExchangeCode",
    "RefreshToken",
    "VerifyToken",
    "RevokeToken",
    "GetMe",
    "UpdateMe",
    "GetUserPreferences",
    "UpdateUserPreferences"
  ],
  "svc.iam.v1.IAMAuthorizationService": [
    "WriteRelationships",
    "CheckPermission",
    "ExplainPermission",
    "ListAccess",
    "ListRelationships"
  ],
  "svc.iam.v1.IAMDirectoryService": [
    "GetUser",
    "ListUsers",
    "GetOrganization",
    "ListGroups"
  ],
  "svc.iam.v1.IAMGroupService": [
    "CreateGroup",
    "GetGroup",
    "ListVisibleGroups",
    "UpdateGroup",
    "MoveGroup",
    "DeleteGroup",
    "AddMember",
    "RemoveMember",
    "ListMembers"
  ],
  "svc.iam.v1.IAMLocalUserService": [
    "ListUsers",
    "CreateUser",
    "GetUser",
    "UpdateUser",
    "DisableUser",
    "EnableUser",
    "DeleteUser"
  ],
  "svc.iam.v1.IAMOrganizationService": [
    "CreateOrganization",
    "GetOrganization",
    "ListOrganizations",
    "UpdateOrganization",
    "DeleteOrganization"
  ],
  "svc.iam.v1.IAMPasswordService": [
    "ChangeMyPassword",
    "CreatePasswordResetLink"
  ],
  "svc.iam.v1.IAMPermissionService": [
    "CheckPermission",
    "CheckBulkPermissions",
    "CheckAnyPermission",
    "ExplainPermission",
    "WriteRelationship",
    "DeleteRelationship",
    "WriteRelationships",
    "ReadRelationships",
    "WatchRelationships",
    "GetModel",
    "LookupResources",
    "LookupSubjects"
  ],
  "svc.iam.v1.IAMProviderService": [
    "ListClients",
    "PlanClients",
    "ApplyClients",
    "RotateSigningKey"
  ],
  "svc.iam.v1.IAMRevocationService": [
    "WatchRevocations"
  ],
  "svc.iam.v1.IAMSecondFactorService": [
    "RemoveUserSecondFactors"
  ],
  "svc.iam.v1.IAMServiceAccountService": [
    "CreateServiceAccount",
    "GetServiceAccount",
    "ListServiceAccounts",
    "UpdateServiceAccount",
    "DisableServiceAccount",
    "EnableServiceAccount",
    "DeleteServiceAccount",
    "CreateServiceAccountKey",
    "ListServiceAccountKeys",
    "DeleteServiceAccountKey"
  ],
  "svc.iam.v1.IAMSessionService": [
    "ListMySessions",
    "EndMySession",
    "EndMyOtherSessions",
    "ListUserSessions",
    "EndUserSession",
    "EndUserSessions"
  ]
};

/** Their packages. */
export const SHIPPED_PACKAGES: readonly string[] = ["svc.iam.v1"];
