import type { Transaction } from "svc-access/database";
import type { ProviderDocumentRow, ProviderTables } from "./provider-tables.ts";

/** How long a used refresh token stays good, in milliseconds: parallel tabs refresh at once. */
export const REUSE_WINDOW_MS = 10_000;

/** How far the clock of another replica may be ahead, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;

/** The columns that decide whether a refresh token is good. */
export type RotationState = Pick<ProviderDocumentRow, "consumed_time" | "ended_time">;

/** Whether a refresh token may be used now: it is unused, or was first used a moment ago. */
export function isGood({ consumed_time, ended_time }: RotationState, now: number): boolean {
  if (ended_time !== null) return false;
  if (consumed_time === null) return true;
  const age = now - consumed_time;
  return age >= -CLOCK_SKEW_MS && age <= REUSE_WINDOW_MS;
}

/**
 * Uses a refresh token, in a transaction that has locked its grant: its first use ends its siblings
 * and the token before it.
 *
 * @returns false if it is not good
 */
export async function consumeRefreshToken(
  tx: Transaction<ProviderTables>,
  token: ProviderDocumentRow,
  now: number,
): Promise<boolean> {
  if (!isGood(token, now)) return false;
  if (token.consumed_time !== null) return true;
  await tx
    .updateTable("iam_provider_documents")
    .set({ consumed_time: now })
    .where("model", "=", token.model)
    .where("id", "=", token.id)
    .execute();
  const parent = token.parent_id;
  if (parent === null) return true;
  await tx
    .updateTable("iam_provider_documents")
    .set({ ended_time: now })
    .where("model", "=", token.model)
    .where("ended_time", "is", null)
    .where((is) =>
      is.or([
        is("id", "=", parent),
        is.and([is("parent_id", "=", parent), is("id", "!=", token.id)]),
      ]),
    )
    .execute();
  return true;
}
