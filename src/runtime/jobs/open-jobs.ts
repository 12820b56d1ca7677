import type { Logger } from "../../common/logger.ts";
import { within } from "../../common/within.ts";
import type { Database } from "../../database/database.ts";
import { migrate } from "../../database/service/migrate.ts";
import type { RuntimeEvents } from "../events/runtime-events.ts";
import type { TimedJob } from "./job.ts";
import { JOB_MIGRATIONS, JobLease, LEASE_MS, RENEW_MS } from "./job-lease.ts";
import { JobRunner } from "./job-runner.ts";

/** What jobs need of the server. */
export interface JobsContext {
  /** For the leases of exclusive jobs. */
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  readonly database: Database<any> | undefined;
  readonly logger: Logger;
  readonly events: RuntimeEvents;
}

/** The jobs of a server. */
export interface ServerJobs {
  start(): void;
  /**
   * Makes all end, and waits for them.
   *
   * @param limitMs how long; those that are still running then are named in the log
   */
  stop(limitMs: number): Promise<void>;
}

/**
 * Prepares jobs, which run once they are started.
 *
 * @throws DatabaseError if one is exclusive and the table of the leases cannot be made
 */
export async function openJobs(
  jobs: readonly TimedJob[],
  { database, logger, events }: JobsContext,
): Promise<ServerJobs> {
  const isShared = database !== undefined && jobs.some(({ exclusive }) => exclusive === true);
  if (isShared) await migrate(database, JOB_MIGRATIONS);
  const runners = jobs.map((job) => {
    const isExclusive = job.exclusive === true && database !== undefined;
    const lease = isExclusive ? new JobLease(database, job.name, job.everyMs) : undefined;
    return new JobRunner(job, {
      logger,
      events,
      ...(lease === undefined ? {} : { lease: { of: lease, renewMs: RENEW_MS, heldMs: LEASE_MS } }),
    });
  });
  return {
    start: () => {
      for (const runner of runners) runner.start();
    },
    async stop(limitMs) {
      const running = new Set(runners);
      const all = Promise.all(
        runners.map((runner) => runner.stop().then(() => running.delete(runner))),
      );
      await within(all, limitMs, () => {
        const names = [...running].map(({ name }) => name);
        logger.error({ jobs: names, limit_ms: limitMs }, "jobs did not end and are abandoned");
      });
    },
  };
}
