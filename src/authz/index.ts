/**
 * Authorization engines (`svc-access/authz`): one interface, two engines.
 */
export { parseModel } from "../model/index.ts";
export { AuthzError, type AuthzErrorCode } from "./authz-error.ts";
export {
  createEmbeddedEngine,
  createMemoryStore,
  type EmbeddedEngineOptions,
} from "./embedded/index.ts";
export {
  type AuthorizationEngine,
  type BulkCheckItem,
  type CallOptions,
  type Change,
  type CheckAnyRequest,
  type CheckRequest,
  type CheckResult,
  type ExplainResult,
  type Explanation,
  type FoundSubject,
  type LookupResourcesRequest,
  type LookupSubjectsRequest,
  MAX_BULK_CHECKS,
  MAX_PAGE_SIZE,
  MAX_PRECONDITIONS,
  MAX_UPDATES,
  type Page,
  type PageRequest,
  type Precondition,
  type Readiness,
  type RelationshipUpdate,
  type Revision,
  type WriteOperation,
  type WriteRequest,
} from "./engine.ts";
export { createSpicedbEngine } from "./open-spicedb-engine.ts";
export type {
  ObjectReference,
  Relationship,
  RelationshipFilter,
  SubjectReference,
} from "./relationship.ts";
export type { RelationshipStore, StoredChange } from "./relationship-store.ts";
export type { SpicedbEngine, SpicedbEngineOptions } from "./spicedb/index.ts";
export { openPostgresStore, type PostgresStoreOptions } from "./store/open-postgres-store.ts";
export { openSqliteStore, type SqliteStoreOptions } from "./store/open-sqlite-store.ts";
export type { PoolSettings, PostgresConnection } from "./store/postgres-settings.ts";
