import type { Database } from "../../../database/database.ts";
import type { AuditTables } from "../audit-table.ts";
import { visibleHead } from "../change-order.ts";

/** How far marks are apart, in milliseconds: events are kept for as long as that beyond their age. */
const APART = 3_600_000;

/** The time of a mark that is there for its change only. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** Marks what is stored by now, at a time that is this at the latest; not more often than needed. */
export async function mark(database: Database<AuditTables>, latest: number): Promise<void> {
  const { kysely } = database;
  const last = await kysely
    .selectFrom("audit_marks")
    .select(["change", "latest"])
    .orderBy("change", "desc")
    .limit(1)
    .executeTakeFirst();
  const change = await visibleHead(database);
  if (last !== undefined) {
    const isNew = change > Number(last.change);
    const later = latest - Number(last.latest);
    if (isNew ? Math.abs(later) < APART : later >= 0) return;
  }
  await kysely
    .insertInto("audit_marks")
    .values({ change, latest })
    // What was stored by two times was stored by the earlier one: of a clock that was ahead, or of another replica.
    .onConflict((conflict) =>
      conflict.column("change").doUpdateSet({ latest }).where("audit_marks.latest", ">", latest),
    )
    .execute();
}

/** Up to which change everything was stored before a time; undefined where that is nothing. */
export async function storedBefore(
  { kysely }: Database<AuditTables>,
  time: number,
): Promise<number | undefined> {
  const { change } = await kysely
    .selectFrom("audit_marks")
    .select((eb) => eb.fn.max("change").as("change"))
    .where("latest", "<=", time)
    .executeTakeFirstOrThrow();
  return change === null || change === undefined ? undefined : Number(change);
}

/** Removes the marks before one. That one stays: changes are counted on from the last mark where no event is left. */
export async function forgetMarks(
  { kysely }: Database<AuditTables>,
  change: number,
): Promise<void> {
  await kysely.deleteFrom("audit_marks").where("change", "<", change).execute();
}
