/**
 * What generated code imports, and what serves it (`svc-access/runtime`).
 */
export type {
  AccessPolicies,
  AccessPolicy,
  AccessResource,
  AccessResourcePart,
} from "./access-policy.ts";
export type { AuditEvent } from "./audit/audit-event.ts";
export type { AuditFilter } from "./audit/audit-filter.ts";
export type { AuditLog, AuditPage, AuditPageRequest } from "./audit/audit-log.ts";
export { type AuditExportOptions, auditLines } from "./audit/export-events.ts";
export type { AuditChange, AuditFollowOptions } from "./audit/follow-events.ts";
export {
  type AuditSource,
  type OpenAuditLogOptions,
  type OpenedAuditLog,
  openAuditLog,
} from "./audit/open-audit-log.ts";
export type { AuthenticationRequest, Authenticator, Identity } from "./authn/authenticator.ts";
export { MemoryRevocationList, type RevocationList } from "./authn/revocation-list.ts";
export type { CallHeaders } from "./call/call-headers.ts";
export type { AuditRecord, CallAudit } from "./call-audit.ts";
export type { CallContext } from "./call-context.ts";
export type { AdmissionCheck, InterceptedCall, Interceptor } from "./chain/interceptor.ts";
export * from "./client/index.ts";
export { ConfigurationError } from "./configuration/configuration-error.ts";
export type {
  LoadedServiceConfig,
  LoadServiceConfigOptions,
} from "./configuration/load-service-config.ts";
export type { ServiceConfig } from "./configuration/service-config.ts";
export type { ErrorCode } from "./error/error-codes.ts";
export {
  ServiceError,
  type ServiceErrorOptions,
  type StatusDetail,
} from "./error/service-error.ts";
export type {
  BidiStreamingHandler,
  ClientStreamingHandler,
  ServerStreamingHandler,
  UnaryHandler,
} from "./handler.ts";
export type { RawHandler, RawRequest, RawResponse } from "./http/raw-handler.ts";
export { createLogger, type LoggerOptions, type ProcessLogger } from "./operation/create-logger.ts";
export type { ReadinessCheck } from "./operation/readiness.ts";
export type { Principal } from "./principal.ts";
export { readRouteDocument } from "./registry/read-route-document.ts";
export type { RouteDocument } from "./registry/route-entry.ts";
export { requirePrincipal } from "./require-principal.ts";
export { type SecretFile, type SecretFileOptions, secretFile } from "./secret/secret-file.ts";
export { createServer } from "./server/create-server.ts";
export { loadServiceConfig } from "./server/load-configuration.ts";
export { migrateDatabase } from "./server/migrate-database.ts";
export { createAuthorizationEngine } from "./server/open-engine.ts";
export { runServer } from "./server/run-server.ts";
export type { Server, ServerAddresses } from "./server/running-server.ts";
export type { ServerOptions } from "./server/server-options.ts";
export { StartUpError } from "./server/start-up-error.ts";
export {
  BINDING_FORMAT_VERSION,
  type HttpRoute,
  type HttpRouteVariable,
  type ServiceBinding,
} from "./service-binding.ts";
