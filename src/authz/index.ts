/**
 * Authorization engines (`svc-access/authz`): one interface, and the engines that need no runtime.
 */
export { type Definition, type Expression, type Model, parseModel } from "../model/index.ts";
export type {
  ObjectReference,
  Relationship,
  RelationshipFilter,
  SubjectReference,
} from "../model/relationship.ts";
export { type MemberStep, memberSteps } from "../model/schema/dependencies.ts";
export {
  createEmbeddedEngine,
  createMemoryStore,
  type EmbeddedEngineOptions,
} from "./embedded/index.ts";
export { AuthzError, type AuthzErrorCode } from "./engine/authz-error.ts";
export type { AuthorizationEngine, Readiness, StoreConnections } from "./engine/engine.ts";
export { ENGINE_TRAITS, type EngineKind, type EngineTraits } from "./engine/engine-kinds.ts";
export type { RelationshipStore, StoredChange } from "./engine/relationship-store.ts";
export {
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
  type RelationshipUpdate,
  type Revision,
  type WriteOperation,
  type WriteRequest,
} from "./engine/requests.ts";
export { createSpicedbEngine } from "./open-spicedb-engine.ts";
export type { SpicedbEngine, SpicedbEngineOptions } from "./spicedb/index.ts";
export {
  openPostgresStore,
  type PostgresStoreOptions,
} from "./store/postgres/open-postgres-store.ts";
export type { PoolSettings, PostgresConnection } from "./store/postgres-settings.ts";
export { openSqliteStore, type SqliteStoreOptions } from "./store/sqlite/open-sqlite-store.ts";
