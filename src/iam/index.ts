/**
 * The API of the IAM service (`svc-access/iam`): its messages, the descriptors of its services, and
 * their HTTP routes, for the typed clients of `svc-access/runtime`.
 */

export { IAMAuthorizationServiceRoutes } from "../gen/proto/svc/iam/v1/administration_client.ts";
export * from "../gen/proto/svc/iam/v1/administration_pb.ts";
export { IAMAuditServiceRoutes } from "../gen/proto/svc/iam/v1/audit_client.ts";
export * from "../gen/proto/svc/iam/v1/audit_pb.ts";
export { IAMAuthServiceRoutes } from "../gen/proto/svc/iam/v1/auth_client.ts";
export * from "../gen/proto/svc/iam/v1/auth_pb.ts";
export { IAMDirectoryServiceRoutes } from "../gen/proto/svc/iam/v1/directory_client.ts";
export * from "../gen/proto/svc/iam/v1/directory_pb.ts";
export { IAMGroupServiceRoutes } from "../gen/proto/svc/iam/v1/groups_client.ts";
export * from "../gen/proto/svc/iam/v1/groups_pb.ts";
export { IAMOrganizationServiceRoutes } from "../gen/proto/svc/iam/v1/organizations_client.ts";
export * from "../gen/proto/svc/iam/v1/organizations_pb.ts";
export { IAMPermissionServiceRoutes } from "../gen/proto/svc/iam/v1/permission_client.ts";
export * from "../gen/proto/svc/iam/v1/permission_pb.ts";
export * from "../gen/proto/svc/iam/v1/principal_pb.ts";
export { IAMProviderServiceRoutes } from "../gen/proto/svc/iam/v1/provider_client.ts";
export * from "../gen/proto/svc/iam/v1/provider_pb.ts";
export * from "../gen/proto/svc/iam/v1/relationship_pb.ts";
export { IAMRevocationServiceRoutes } from "../gen/proto/svc/iam/v1/revocation_client.ts";
export * from "../gen/proto/svc/iam/v1/revocation_pb.ts";
export { IAMSecondFactorServiceRoutes } from "../gen/proto/svc/iam/v1/second_factors_client.ts";
export * from "../gen/proto/svc/iam/v1/second_factors_pb.ts";
export { IAMServiceAccountServiceRoutes } from "../gen/proto/svc/iam/v1/service_accounts_client.ts";
export * from "../gen/proto/svc/iam/v1/service_accounts_pb.ts";
export { IAMSessionServiceRoutes } from "../gen/proto/svc/iam/v1/sessions_client.ts";
export * from "../gen/proto/svc/iam/v1/sessions_pb.ts";
export * from "../gen/proto/svc/iam/v1/user_pb.ts";
export {
  IAMLocalUserServiceRoutes,
  IAMPasswordServiceRoutes,
} from "../gen/proto/svc/iam/v1/users_client.ts";
export * from "../gen/proto/svc/iam/v1/users_pb.ts";
