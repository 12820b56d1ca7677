import { type Kysely, sql, type Transaction } from "svc-access/database";
import { LOGIN_MODELS } from "../../ground/store/document-models.ts";
import type { ProviderDatabase } from "../../ground/store/provider-database.ts";
import type { ProviderTables } from "../../ground/store/provider-tables.ts";
import { sessionOf } from "./login-session.ts";
import type { Revocations } from "./revocations.ts";
import { KEEP_ENDED_MS } from "./sessions.ts";

const BATCH = 500;
/** Longer than an access token counts anywhere; later ones of a session have expired. */
const RECENT_MS = 900_000;

/**
 * Ends all sessions of the embedded provider, and all that it has issued: everybody logs in again. Runs
 * in batches, also while the service runs.
 *
 * @param now milliseconds since the epoch
 * @returns how many sessions were ended
 */
export async function endEverySession(
  database: ProviderDatabase,
  revocations: Revocations,
  now: () => number = Date.now,
): Promise<number> {
  let ended = 0;
  for (;;) {
    const count = await database.transaction((tx) => endBatch(tx, revocations, now()));
    ended += count;
    if (count < BATCH) break;
  }
  while ((await database.run(removeBatch)) >= BATCH);
  return ended;
}

async function endBatch(
  tx: Transaction<ProviderTables>,
  revocations: Revocations,
  now: number,
): Promise<number> {
  const rows = await tx
    .updateTable("iam_sessions")
    .set({ ended_time: now, expire_time: now + KEEP_ENDED_MS })
    .where("id", "in", (db) =>
      db.selectFrom("iam_sessions").select("id").where("ended_time", "is", null).limit(BATCH),
    )
    .returningAll()
    .execute();
  const recent = rows.map(sessionOf).filter(({ seenTime }) => seenTime > now - RECENT_MS);
  await revocations.add(
    tx,
    recent.flatMap(({ clients }) =>
      clients.map(({ sid }) => ({ kind: "sid", value: sid }) as const),
    ),
  );
  return rows.length;
}

/** Codes, tokens, grants, the sessions of browsers, and logins that have begun. */
async function removeBatch(db: Kysely<ProviderTables>): Promise<number> {
  const documents = sql.table("iam_provider_documents");
  const { rows } = await sql`delete from ${documents}
    where (model, id) in (
      select model, id from ${documents} where model in (${sql.join(LOGIN_MODELS)})
      limit ${sql.lit(BATCH)})
    returning id`.execute(db);
  return rows.length;
}
