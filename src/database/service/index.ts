/**
 * The database of a service, in SQLite or PostgreSQL, and the query builder for it
 * (`svc-access/database`).
 */

export type {
  ColumnType,
  Generated,
  Insertable,
  Kysely,
  RawBuilder,
  Selectable,
  Transaction,
  Updateable,
} from "kysely";
export { sql } from "kysely";
export {
  type DatabaseKind,
  type DatabaseSettings,
  IS_SHARED,
  type PoolStats,
} from "../database.ts";
export { DatabaseError, type DatabaseErrorCode } from "../database-error.ts";
export { databaseTime } from "../database-time.ts";
export type { TableRight, TableRights } from "../postgres/postgres-rights.ts";
export type { ColumnTypes, TableChange } from "../tables.ts";
export {
  type DatabaseConfig,
  migrateServiceDatabase,
  openServiceDatabase,
  type ServiceDatabaseOptions,
} from "./open-service-database.ts";
export type { BuildRead, PreparedRead } from "./prepared-read.ts";
export type { ServerDatabase } from "./server-database.ts";
export type { ServiceDatabase } from "./service-database.ts";
export type {
  MigrationContext,
  ServiceMigration,
  ServiceTables,
} from "./service-migration.ts";
export type { TransactionOptions } from "./transactions.ts";
export { isUniqueViolation } from "./unique-violation.ts";
