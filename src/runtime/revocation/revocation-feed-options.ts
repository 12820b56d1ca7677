import type { Clocks } from "../../common/observed-time.ts";
import type { Revocation } from "./revocation.ts";

/** The options of a feed of revocations. */
export interface RevocationFeedOptions {
  /**
   * The revocations that count already, from the store behind the feed. The feed notifies those who
   * watch it that these, and those that are published, are all.
   */
  readonly initial?: Iterable<Revocation>;
  /**
   * Whether the feed has all revocations that are stored: false while the store cannot be read, or
   * was not read for some seconds. Watchers then refuse tokens after 10 s. Absent, it always has.
   */
  readonly isCurrent?: () => boolean;
  /** How many revocations it holds; 100,000 if absent. */
  readonly capacity?: number;
  /**
   * How many of the latest revocations a watcher may have missed without getting all of them again;
   * 10,000 if absent.
   */
  readonly logCapacity?: number;
  /** The clocks, for tests. */
  readonly clocks?: Clocks;
}
