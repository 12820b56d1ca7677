import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Backend, PostgresWriter } from "./postgres-writer.ts";

/**
 * How often, and after how many milliseconds each, to retry a lock that our own previous connection
 * still has.
 */
const ATTEMPTS = 30;
const PAUSE = 100;

/**
 * Takes the lock of a store, a session advisory lock; a database has one for each schema. The
 * server may still consider an abandoned connection of ours as open, for hours if the network
 * broke: it is terminated.
 *
 * @returns whether it was taken
 */
export async function takeLock(
  writer: PostgresWriter,
  schema: string,
  previous: Backend | undefined,
): Promise<boolean> {
  // The connection may end between the two queries: only if it has is a lock that is still taken
  // another process's.
  let isPreviousGone = false;
  const key = createHash("sha256").update(`svc-access store ${schema}`).digest().readBigInt64BE();
  for (let attempt = 1; ; attempt++) {
    const rows = await writer.query<{ taken: boolean }>(
      "select pg_try_advisory_lock($1::bigint) as taken",
      [String(key)],
    );
    if (rows[0]?.taken === true) return true;
    if (previous === undefined || isPreviousGone || attempt === ATTEMPTS) return false;
    const ended = await writer.query(
      `select pg_terminate_backend(pid) from pg_locks join pg_stat_activity using (pid)
       where locktype = 'advisory' and objsubid = 1
       and (classid::bigint << 32) | objid::bigint = $1::bigint
       and pid = $2 and backend_start::text = $3`,
      [String(key), previous.pid, previous.start],
    );
    isPreviousGone = ended.length === 0;
    await sleep(PAUSE);
  }
}
