import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Database, DatabaseKind } from "../../../database/database.ts";
import type { AuditTables } from "./audit-table.ts";

/**
 * The number of a change, as an expression of the statement that makes it: greater than that of
 * every change that could be read before. It orders changes as they became visible, which neither
 * time (an event completes after it began) nor a sequence (two transactions may commit in reverse
 * order) does.
 *
 * SQLite lets one transaction write at a time, so it counts. The marks of retention keep the
 * count if all events were removed. In PostgreSQL it is the number of the transaction.
 */
export function nextChange({ kysely, kind }: Database<AuditTables>): RawBuilder<number> {
  switch (kind) {
    case "sqlite":
      return sql<number>`(select 1 + max(
        coalesce((select max(change) from audit_events), 0),
        coalesce((select max(change) from audit_marks), 0)))`;
    case "postgres":
      return sql<number>`txid_current() + (${kysely.selectFrom("audit_clock").select("shift")})`;
  }
}

/**
 * The last change up to which no further ones can appear. In PostgreSQL it is the last one before
 * the oldest transaction that is still under way, whose changes come later.
 */
export async function visibleHead(database: Database<AuditTables>): Promise<number> {
  const { kysely, kind } = database;
  switch (kind) {
    case "sqlite": {
      const { head } = await kysely
        .selectNoFrom(nextChange(database).as("head"))
        .executeTakeFirstOrThrow();
      return Number(head) - 1;
    }
    case "postgres": {
      const { head } = await kysely
        .selectFrom("audit_clock")
        .select(
          sql<string>`txid_snapshot_xmin(txid_current_snapshot()) - 1 + ${sql.ref("shift")}`.as(
            "head",
          ),
        )
        .executeTakeFirstOrThrow();
      return Number(head);
    }
  }
}

/** Whether the numbers of changes come from a server; another server starts counting again. */
const COUNTS_AGAIN: Readonly<Record<DatabaseKind, boolean>> = { sqlite: false, postgres: true };

/**
 * Keeps changes in order in a PostgreSQL database that was restored on another server, which counts
 * its transactions again: where stored changes have numbers that are still to come, all later ones
 * are shifted past them.
 */
export async function shiftChanges({ kysely, kind }: Database<AuditTables>): Promise<void> {
  if (!COUNTS_AGAIN[kind]) return;
  await kysely
    .updateTable("audit_clock")
    .set({ shift: sql<number>`${lastStored(kysely)} + 1 - txid_current()` })
    .where(sql<boolean>`${lastStored(kysely)} >= txid_current() + ${sql.ref("shift")}`)
    .execute();
}

function lastStored(kysely: Kysely<AuditTables>): RawBuilder<number> {
  const of = (table: "audit_events" | "audit_marks") =>
    kysely.selectFrom(table).select((eb) => eb.fn.max("change").as("last"));
  return sql<number>`greatest((${of("audit_events")}), (${of("audit_marks")}), 0)`;
}
