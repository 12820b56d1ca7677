import type { ServiceDatabase } from "svc-access/database";
import type { IamTables } from "../store/tables.ts";
import type { RemovalTransaction } from "./removal-kind.ts";

/** How many removals one transaction moves. */
const BATCH = 100;

/** What takes the removals over. */
export interface NewRemovals {
  add(transaction: RemovalTransaction, kind: string, id: string): Promise<void>;
}

/**
 * Moves the removals of versions that recorded them in `iam_removals`. In each run of the job, and
 * not in a migration: replicas of such a version add more while they are replaced. Version 0.1.0 is
 * the last of them. This can go in 0.3.0, two versions after it.
 *
 * @throws DatabaseError; what is not moved is still there
 */
export async function moveFormerRemovals(
  database: ServiceDatabase<IamTables>,
  removals: NewRemovals,
  signal: AbortSignal,
): Promise<void> {
  let found: number;
  do {
    signal.throwIfAborted();
    found = await database.inTransaction((transaction) => moveSome(transaction, removals));
  } while (found === BATCH);
}

async function moveSome(transaction: RemovalTransaction, removals: NewRemovals): Promise<number> {
  const rows = await transaction
    .selectFrom("iam_removals")
    .select(["kind", "id"])
    .orderBy("due_time")
    .limit(BATCH)
    .execute();
  for (const { kind, id } of rows) {
    const { numDeletedRows } = await transaction
      .deleteFrom("iam_removals")
      .where("kind", "=", kind)
      .where("id", "=", id)
      .executeTakeFirst();
    // Otherwise another process has moved it.
    if (numDeletedRows > 0n) await removals.add(transaction, kind, id);
  }
  return rows.length;
}
