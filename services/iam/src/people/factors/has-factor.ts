import type { Kysely } from "svc-access/database";
import type { FactorTables } from "../../ground/store/factor-tables.ts";

/** Whether an account has a second factor. In a transaction that holds the account it remains so. */
export async function hasFactor(
  database: Kysely<Pick<FactorTables, "iam_second_factors">>,
  accountId: string,
): Promise<boolean> {
  const row = await database
    .selectFrom("iam_second_factors")
    .select("id")
    .where("account_id", "=", accountId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether a login, by its methods as of RFC 8176, has used a second factor. */
export function usesFactor(amr: unknown): boolean {
  return Array.isArray(amr) && amr.includes("mfa");
}
