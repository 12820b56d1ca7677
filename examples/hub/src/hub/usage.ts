import { type Duration, durationFromMs, type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Project, Run } from "../../gen/hub/projects/v1/project_service_pb.ts";

/** What was used. */
export interface Usage {
  readonly projectCount: number;
  readonly runCount: bigint;
  readonly runTime: Duration;
}

/**
 * Counts the projects, and the runs that started in a time.
 *
 * @param since the start of the month if absent
 */
export function usageOf(
  projects: Iterable<readonly [string, Project]>,
  runsOf: (projectId: bigint) => Iterable<readonly [string, Run]>,
  since: Timestamp | undefined,
): Usage {
  const now = Date.now();
  const from = since === undefined ? startOfMonth(new Date(now)) : timestampMs(since);
  let projectCount = 0;
  let runCount = 0n;
  let milliseconds = 0;
  for (const [, { projectId }] of projects) {
    projectCount++;
    for (const [, { startTime, endTime }] of runsOf(projectId)) {
      const start = startTime === undefined ? 0 : timestampMs(startTime);
      if (start < from) continue;
      runCount++;
      milliseconds += (endTime === undefined ? now : timestampMs(endTime)) - start;
    }
  }
  return { projectCount, runCount, runTime: durationFromMs(milliseconds) };
}

function startOfMonth(now: Date): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
}
