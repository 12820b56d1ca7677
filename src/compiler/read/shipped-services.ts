/** The protobuf services whose protos this npm package ships, and their RPCs. */
export const SHIPPED_SERVICES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  shipped("IAMAuthorizationService", "WriteRelationships CheckPermission ListRelationships"),
  shipped(
    "IAMAuthService",
    "BuildLoginURL ExchangeCode RefreshToken VerifyToken RevokeToken GetMe UpdateMe GetUserPreferences UpdateUserPreferences",
  ),
  shipped("IAMDirectoryService", "GetUser ListUsers GetOrganization ListGroups"),
  shipped(
    "IAMPermissionService",
    "CheckPermission WriteRelationship DeleteRelationship LookupResources LookupSubjects",
  ),
  shipped("IAMLocalUserService", "ListUsers CreateUser"),
]);

/** Their packages. */
export const SHIPPED_PACKAGES: ReadonlySet<string> = new Set(["svc.iam.v1"]);

/** Whether a service is a shipped one; one with additional RPCs is not. */
export function isShipped(service: {
  readonly fullName: string;
  readonly rpcs: readonly { readonly name: string }[];
}): boolean {
  const rpcs = SHIPPED_SERVICES.get(service.fullName);
  return rpcs !== undefined && service.rpcs.every(({ name }) => rpcs.has(name));
}

function shipped(service: string, rpcs: string): [string, ReadonlySet<string>] {
  return [`svc.iam.v1.${service}`, new Set(rpcs.split(" "))];
}
