import { type DatabaseKind, type RawBuilder, sql } from "svc-access/database";

/**
 * The time now, in milliseconds since the epoch, of the one clock that replicas share: that of
 * PostgreSQL. SQLite has that of this process.
 *
 * @param now instead of the clock of the database; for tests
 */
export function databaseTime(kind: DatabaseKind, now?: () => number): RawBuilder<number> {
  return kind === "postgres" && now === undefined
    ? sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
    : sql<number>`cast(${(now ?? Date.now)()} as bigint)`;
}
