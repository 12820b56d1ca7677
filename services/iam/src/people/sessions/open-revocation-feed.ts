import { setTimeout as sleep } from "node:timers/promises";
import { type Job, RevocationFeed, type ServiceBinding } from "svc-access/runtime";
import { bindIAMRevocationService } from "../../../gen/svc/iam/v1/revocation_server.ts";
import { DatabaseClock } from "./database-clock.ts";
import { RevocationFollower } from "./follow-revocations.ts";
import type { Revocations } from "./revocations.ts";

/** How long a call that has stored a revocation waits until it is published here. */
const LONGEST_PUBLICATION_MS = 1000;

/** The revocations in this process. */
export interface OpenedRevocationFeed {
  /** Those that count, for the server itself. */
  readonly feed: RevocationFeed;
  /** Reports them to services. */
  readonly binding: ServiceBinding;
  /** Reads those of other replicas. */
  readonly job: Job;
  /** Whether the clock of this process is that of the database. */
  readonly clock: DatabaseClock;
}

/**
 * Opens the feed of the stored revocations.
 *
 * @param capacity how many it holds; as many as `RevocationFeed` does if absent
 * @throws DatabaseUnavailable where they cannot be read
 */
export async function openRevocationFeed(
  revocations: Revocations,
  capacity?: number,
): Promise<OpenedRevocationFeed> {
  const feed = new RevocationFeed({
    isCurrent: () => follower.isCurrent,
    ...(capacity === undefined ? {} : { capacity }),
  });
  const clock = new DatabaseClock();
  const follower = new RevocationFollower(revocations, feed, clock);
  // A start with more than the feed can hold, or with a wrong clock: tokens are refused meanwhile.
  await follower.look().catch((error: unknown) => {
    if (!feed.isFull && clock.problem === undefined) throw error;
  });
  let hasFailed = false;
  const look = async () => {
    try {
      await follower.look();
      hasFailed = false;
    } catch (error) {
      // The first of many failures is logged.
      if (hasFailed) return;
      hasFailed = true;
      throw error;
    }
  };
  // At once for those of this process; what fails or takes long is read again by the job.
  revocations.onNew(() =>
    Promise.race([
      follower.look().catch(() => undefined),
      sleep(LONGEST_PUBLICATION_MS, undefined, { ref: false }),
    ]),
  );
  return {
    feed,
    binding: bindIAMRevocationService({
      watchRevocations: ({ position }, { signal }) => feed.watch(position, signal),
    }),
    job: { name: "revocations", every: "200ms", deadline: "10s", run: look },
    clock,
  };
}
