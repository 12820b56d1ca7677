import { type Job, RevocationFeed } from "svc-access/runtime";
import type { IAMRevocationServiceHandlers } from "../../gen/svc/iam/v1/revocation_server.ts";
import { RevocationFollower } from "./follow-revocations.ts";
import type { Revocations } from "./revocations.ts";

/** The revocations in this process. */
export interface OpenedRevocationFeed {
  /** Those that count, for the server itself. */
  readonly feed: RevocationFeed;
  /** Tells services of them. */
  readonly handlers: IAMRevocationServiceHandlers;
  /** Reads those of other replicas. */
  readonly job: Job;
}

/**
 * Opens the feed of the stored revocations.
 *
 * @throws DatabaseUnavailable where they cannot be read
 */
export async function openRevocationFeed(revocations: Revocations): Promise<OpenedRevocationFeed> {
  const feed = new RevocationFeed({ isCurrent: () => follower.isCurrent });
  const follower = new RevocationFollower(revocations, (one) => feed.publish(one));
  await follower.look();
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
  // At once for those of this process; what fails then is read again by the job.
  revocations.onNew(() => void follower.look().catch(() => undefined));
  return {
    feed,
    handlers: { watchRevocations: ({ position }, { signal }) => feed.watch(position, signal) },
    job: { name: "revocations", every: "200ms", deadline: "10s", run: look },
  };
}
