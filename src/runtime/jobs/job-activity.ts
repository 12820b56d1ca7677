import { SILENT } from "../../common/logger.ts";
import type { Database } from "../../database/database.ts";
import { databaseTime } from "../../database/database-time.ts";
import { componentVersion } from "../../database/service/migrate.ts";
import { openDatabase } from "../../database/service/open-database.ts";
import type { DatabaseConfig } from "../../database/service/open-service-database.ts";
import { isAbsentDatabase } from "../../database/sqlite/sqlite-file.ts";
import { JOB_MIGRATIONS, LEASE_MS, type LeaseTables } from "./job-lease.ts";

/** An exclusive job that each replica of a service has. */
export interface ObservedJob {
  /** Its name. */
  readonly name: string;
  /** How often it runs, in milliseconds: some seconds, since the observation takes at least as long. */
  readonly everyMs: number;
}

/** How often the lease is read. */
const READ_MS = 250;
/** A turn of a process is up to a tenth of the interval late, or waits so much longer. */
const INTERVALS = 1.1;
/** How much later than it is due a busy process may run a job. */
const LATE_MS = 3000;

/**
 * Whether some process runs an exclusive job of a service: a sign that a replica runs, or was killed within the
 * last 30 seconds. It says no only after a whole interval of the job, and a tenth, and 3 seconds, or when the next run
 * is 3 seconds late, if that is later: a replica that has just started has its first run within that time.
 *
 * @param config - the configuration of the service
 * @param job - the job that is observed
 * @throws DatabaseError UNAVAILABLE if the database is down
 *
 * @example
 * ```ts
 * const { config } = loadServiceConfig("service.yaml");
 * if (await isJobActive(config, { name: "clean_up", everyMs: 5000 })) throw new Error("stop all replicas first");
 * ```
 */
export async function isJobActive(
  { database: settings }: DatabaseConfig,
  job: ObservedJob,
): Promise<boolean> {
  if (settings === undefined || isAbsentDatabase(settings)) return false;
  const database = await openDatabase<LeaseTables>(settings, { logger: SILENT });
  try {
    const { made } = await componentVersion(database, JOB_MIGRATIONS);
    return made > 0 && (await isActive(database, job));
  } catch (error) {
    throw database.explain(error);
  } finally {
    await database.close();
  }
}

async function isActive(
  database: Database<LeaseTables>,
  { name, everyMs }: ObservedJob,
): Promise<boolean> {
  const first = await read(database, name);
  // No run can have set a later time: it is from a clock that was ahead.
  const due = Math.min(first.due, first.now + 2 * everyMs);
  const until = Math.max(due, first.now + INTERVALS * everyMs) + LATE_MS;
  for (let lease = first; ; lease = await read(database, name)) {
    const { now, due, expires } = lease;
    if (expires > now && expires <= now + LEASE_MS) return true;
    if (due !== first.due) return true;
    if (now > until) return false;
    await new Promise((resolve) => setTimeout(resolve, READ_MS));
  }
}

interface Lease {
  readonly expires: number;
  readonly due: number;
  readonly now: number;
}

/** The lease of a job; one that no process has ever taken has expired long ago. */
async function read({ kysely, kind }: Database<LeaseTables>, name: string): Promise<Lease> {
  const lease = kysely.selectFrom("job_leases").where("name", "=", name);
  const row = await kysely
    .selectNoFrom([
      lease.select("expires").as("expires"),
      lease.select("due").as("due"),
      databaseTime(kind).as("now"),
    ])
    .executeTakeFirstOrThrow();
  // PostgreSQL sends whole numbers of 64 bits as text.
  return { expires: Number(row.expires), due: Number(row.due), now: Number(row.now) };
}
