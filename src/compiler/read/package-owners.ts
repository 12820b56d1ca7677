import { DescriptorError } from "../../api/descriptors/file-outline.ts";
import type { PlatformConfig } from "../../config/config.ts";

/** The role of a protobuf package. */
export type PackageRole =
  /** A deployed service serves it. */
  | { readonly kind: "served"; readonly service: string }
  /** Another repository serves it; it is only called from here. */
  | { readonly kind: "client" }
  /** The configuration does not list it, and this npm package ships its protos: it is only called. */
  | { readonly kind: "shipped" }
  /** The configuration does not list it. */
  | { readonly kind: "unassigned" };

/** Finds the deployed service, if any, that serves a protobuf package. */
export class PackageOwners {
  readonly #owners = new Map<string, string>();
  readonly #clients: ReadonlySet<string>;
  readonly #services: ReadonlySet<string> | undefined;

  constructor(config: Pick<PlatformConfig, "services" | "clients"> | undefined) {
    for (const [name, { packages }] of Object.entries(config?.services ?? {})) {
      for (const packageName of packages) this.#owners.set(packageName, name);
    }
    this.#clients = new Set(config?.clients);
    if (config?.services !== undefined) this.#services = new Set(Object.keys(config.services));
  }

  /**
   * The role of a package. Without `services` in the configuration, each package that is not a client
   * is its own deployed service.
   *
   * @throws DescriptorError if a configured service has the name of a package that it does not serve.
   */
  roleOf(packageName: string): PackageRole {
    const owner = this.#owners.get(packageName);
    if (owner !== undefined) return { kind: "served", service: owner };
    if (this.#clients.has(packageName)) return { kind: "client" };
    if (SHIPPED_PACKAGES.has(packageName)) return { kind: "shipped" };
    if (this.#services === undefined) return { kind: "served", service: packageName };
    if (this.#services.has(packageName)) {
      throw new DescriptorError(
        `the package ${packageName} has the name of a service that does not serve it; list it in services.<name>.packages`,
      );
    }
    return { kind: "unassigned" };
  }
}

/** The protobuf services whose protos this npm package ships, and their RPCs. */
export const SHIPPED_SERVICES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  shipped("IAMAuditService", "ListAuditEvents ExportAuditEvents FollowAuditEvents"),
  shipped(
    "IAMAuthService",
    "BuildLoginURL ExchangeCode RefreshToken VerifyToken RevokeToken GetMe UpdateMe GetUserPreferences UpdateUserPreferences",
  ),
  shipped(
    "IAMAuthorizationService",
    "WriteRelationships CheckPermission ExplainPermission ListAccess ListRelationships",
  ),
  shipped("IAMDirectoryService", "GetUser ListUsers GetOrganization ListGroups"),
  shipped(
    "IAMGroupService",
    "CreateGroup GetGroup ListVisibleGroups UpdateGroup MoveGroup DeleteGroup AddMember RemoveMember ListMembers",
  ),
  shipped(
    "IAMLocalUserService",
    "ListUsers CreateUser GetUser UpdateUser DisableUser EnableUser DeleteUser",
  ),
  shipped(
    "IAMOrganizationService",
    "CreateOrganization GetOrganization ListOrganizations UpdateOrganization DeleteOrganization",
  ),
  shipped("IAMPasswordService", "ChangeMyPassword CreatePasswordResetLink"),
  shipped(
    "IAMPermissionService",
    "CheckPermission CheckBulkPermissions CheckAnyPermission ExplainPermission WriteRelationship DeleteRelationship WriteRelationships ReadRelationships WatchRelationships GetModel LookupResources LookupSubjects",
  ),
  shipped("IAMRevocationService", "WatchRevocations"),
  shipped(
    "IAMServiceAccountService",
    "CreateServiceAccount GetServiceAccount ListServiceAccounts UpdateServiceAccount DisableServiceAccount EnableServiceAccount DeleteServiceAccount CreateServiceAccountKey ListServiceAccountKeys DeleteServiceAccountKey",
  ),
  shipped(
    "IAMSessionService",
    "ListMySessions EndMySession EndMyOtherSessions ListUserSessions EndUserSession EndUserSessions",
  ),
]);

/** Their packages. */
const SHIPPED_PACKAGES: ReadonlySet<string> = new Set(["svc.iam.v1"]);

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
