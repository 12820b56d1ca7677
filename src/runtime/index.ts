/**
 * What generated code imports, and what serves it (`svc-access/runtime`).
 */

export type {
  AccessPolicies,
  AccessPolicy,
  AccessResource,
  AccessResourcePart,
  HttpRouteDeclaration,
  RouteDocument,
} from "../api/format.ts";
export { DuplicateKeyError, parseUniqueJson } from "../common/scan-json.ts";
export { DatabaseError, type DatabaseErrorCode } from "../database/database-error.ts";
export type { ServerDatabase } from "../database/service/server-database.ts";
export { didYouMean } from "../diagnostics/nearest.ts";
export type { AuditEvent, AuditPrincipal } from "./audit/event/audit-event.ts";
export type { AuditFilter } from "./audit/log/audit-filter.ts";
export type { AuditLog, AuditPage, AuditPageRequest } from "./audit/log/audit-log.ts";
export { type AuditExportOptions, auditLines } from "./audit/log/export-events.ts";
export type { AuditChange, AuditFollowOptions } from "./audit/log/follow-events.ts";
export {
  type AuditSource,
  type OpenAuditLogOptions,
  type OpenedAuditLog,
  openAuditLog,
} from "./audit/log/open-audit-log.ts";
export type { AuditRecorder } from "./audit/recorder/audit-recorder.ts";
export type {
  AuthenticationRequest,
  Authenticator,
  Identity,
} from "./authn/identity/authenticator.ts";
export type { TokenRefusal } from "./authn/jwt/bearer-token.ts";
export { revocableTokenOf } from "./authn/jwt/revocable-token.ts";
export {
  MemoryRevocationList,
  type RevocableToken,
  type RevocationList,
} from "./authn/jwt/revocation-list.ts";
export {
  type ActiveToken,
  createTokenVerifier,
  type InactiveToken,
  type TokenVerifier,
  type TokenVerifierOptions,
} from "./authn/jwt/token-verifier.ts";
export { reusableMessage } from "./binding/reusable-message.ts";
export type { HttpRoute, HttpRouteVariable, ServiceBinding } from "./binding/service-binding.ts";
export { deepFreeze, httpRoutes } from "./binding/service-binding.ts";
export {
  type AuditRecord,
  type BidiStreamingHandler,
  type CallAudit,
  type CallContext,
  type ClientStreamingHandler,
  type Principal,
  requirePrincipal,
  type ServerStreamingHandler,
  type UnaryHandler,
} from "./call/call-context.ts";
export type { CallHeaders } from "./call/call-headers.ts";
export type { AdmissionCheck, InterceptedCall, Interceptor } from "./chain/interceptor.ts";
export * from "./client/index.ts";
export { ConfigurationError } from "./configuration/configuration-error.ts";
export type { ListenAddresses } from "./configuration/listen-addresses.ts";
export type {
  LoadedServiceConfig,
  LoadServiceConfigOptions,
} from "./configuration/load-service-config.ts";
export type { ServiceConfig } from "./configuration/service-config.ts";
export type {
  ConfigurationSections,
  SectionValues,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from "./configuration/standard-schema.ts";
export type { ErrorCode } from "./error/error-codes.ts";
export {
  ServiceError,
  type ServiceErrorOptions,
  type StatusDetail,
} from "./error/service-error.ts";
export { StartUpError } from "./error/start-up-error.ts";
export {
  type NodeCallback,
  type NodeHandlerOptions,
  type NodeRequestParts,
  nodeHandler,
  serveNode,
} from "./http/raw/node-handler.ts";
export type {
  ErrorResponse,
  RawHandler,
  RawRequest,
  RawResponse,
  RefusedRequest,
  RenderError,
} from "./http/raw/raw-handler.ts";
export { creationId } from "./idempotency/creation-id.ts";
export type { Job } from "./jobs/job.ts";
export { isJobActive, type ObservedJob } from "./jobs/job-activity.ts";
export { createLogger, type LoggerOptions, type ProcessLogger } from "./logging/create-logger.ts";
export { redact } from "./logging/redaction/redaction.ts";
export type { MetricSample, ServiceMetric } from "./observers/metrics/service-metric.ts";
export { readRouteDocument } from "./registry/route-entry.ts";
export { openRemovals } from "./removals/open-removals.ts";
export type { RemovalKind } from "./removals/removal-kind.ts";
export type { Removals, RemovalsOptions } from "./removals/removals.ts";
export type { Revocation, RevokedSubject, RevokedTokens } from "./revocation/revocation.ts";
export { RevocationFeed } from "./revocation/revocation-feed.ts";
export type { RevocationFeedOptions } from "./revocation/revocation-feed-options.ts";
export type {
  RevocationFeedEntry,
  RevocationFeedResponse,
  RevocationTime,
  RevokedIdEntry,
  RevokedSubjectEntry,
  RevokedSubjectMessage,
} from "./revocation/revocation-feed-response.ts";
export { type SecretFile, type SecretFileOptions, secretFile } from "./secret/followed-secret.ts";
export { createServer } from "./server/create-server.ts";
export { hasRelationship } from "./server/has-relationship.ts";
export { loadServiceConfig } from "./server/load-configuration.ts";
export { migrateDatabase } from "./server/migrate-database.ts";
export { type AuditRecorderOptions, openAuditRecorder } from "./server/open-audit-recorder.ts";
export {
  createAuthorizationEngine,
  loadModel,
  planModel,
  writeModel,
} from "./server/open-engine.ts";
export { type PlannedMigration, planMigration } from "./server/plan-migration.ts";
export type { ReadinessCheck, ReadinessDetail, ReadinessResult } from "./server/readiness.ts";
export { runServer } from "./server/run-server.ts";
export type { Server, ServerAddresses } from "./server/running-server.ts";
export type { ServerOptions } from "./server/server-options.ts";
