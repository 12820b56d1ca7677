import type { Job } from "svc-access/runtime";
import type { DatabaseClock } from "./database-clock.ts";

/** Jobs that delete what is too old, or replace it: they wait while the clock of this process is wrong. */
export function clockedJobs(
  jobs: readonly Job[],
  clock: Pick<DatabaseClock, "problem">,
): readonly Job[] {
  return jobs.map((job) => ({
    ...job,
    run: (signal) => (clock.problem === undefined ? job.run(signal) : undefined),
  }));
}
