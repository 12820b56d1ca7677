import { type Kysely, sql } from "kysely";
import type { DatabaseKind } from "../../database/database.ts";

/**
 * Numbers the changes of events, for those who follow them and for retention. Events from
 * before that have the number 0: what is known of their age is their time.
 */
// biome-ignore lint/suspicious/noExplicitAny: it makes the tables that a type would name
export async function addChanges(connection: Kysely<any>, kind: DatabaseKind): Promise<void> {
  const { schema } = connection;
  const whole = kind === "postgres" ? "bigint" : "integer";
  await schema
    .alterTable("audit_events")
    .addColumn("change", whole, (column) => column.notNull().defaultTo(0))
    .execute();
  await schema
    .createIndex("audit_events_change")
    .on("audit_events")
    .columns(["change", "id"])
    .execute();
  await schema
    .createTable("audit_marks")
    .addColumn("change", whole, (column) => column.primaryKey())
    .addColumn("latest", whole, (column) => column.notNull())
    .execute();
  await schema
    .createTable("audit_clock")
    .addColumn("singleton", "integer", (column) => column.primaryKey().check(sql`singleton = 1`))
    .addColumn("shift", whole, (column) => column.notNull())
    .addColumn("version", whole, (column) => column.notNull())
    .addColumn("state", "text", (column) => column.notNull())
    .execute();
  await connection
    .insertInto("audit_clock")
    .values({ singleton: 1, shift: 0, version: 0, state: "" })
    .execute();
}
