import { type RawBuilder, sql } from "kysely";
import type { DatabaseKind } from "./database.ts";

/**
 * The time now, in whole milliseconds since the epoch, by the one clock that all processes share: that of the
 * server, or of this process where no other uses the database.
 *
 * @param kind - the kind of database
 * @param now - milliseconds since the epoch, instead of that clock; for tests
 *
 * @example
 * ```ts
 * const { now } = await database.kysely
 *   .selectNoFrom(databaseTime(database.kind).as("now"))
 *   .executeTakeFirstOrThrow();
 * ```
 */
export function databaseTime(kind: DatabaseKind, now?: () => number): RawBuilder<number> {
  if (now !== undefined) return inMilliseconds(now());
  switch (kind) {
    case "sqlite":
      return inMilliseconds(Date.now());
    case "postgres":
      return sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`;
  }
}

function inMilliseconds(time: number): RawBuilder<number> {
  return sql`cast(${Math.round(time)} as bigint)`;
}
