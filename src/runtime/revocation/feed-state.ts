import type { Logger } from "../../common/logger.ts";
import type { FeedRefusal } from "./feed-refusal.ts";

/**
 * Whether the revocations are known: not yet, all of them, not for some time, there are more than can
 * be held, or the clock differs from that of the feed.
 */
export type FeedState = "starting" | "live" | "lost" | "full" | "apart";

/** How long the last news may be past before the revocations count as unknown. */
export const LOSS_MS = 10_000;

/** What messages about a state say. */
export interface FeedSituation {
  readonly logger: Logger;
  readonly onLoss: "refuse" | "serve";
  readonly maxEntries: number;
  /** By how much the clock of this process is ahead of that of the feed. */
  readonly aheadMs: number;
  /** How many revocations are known. */
  readonly size: number;
  /** Why the last connection ended. */
  readonly reason: string;
  /** How the feed refuses this service; undefined if it does not. */
  readonly refusal: FeedRefusal | undefined;
}

/** Why the revocations are not known; undefined if they are. */
export function whatIsMissing(state: FeedState, situation: FeedSituation): string | undefined {
  switch (state) {
    case "live":
      return undefined;
    case "full":
      return `there are more than max_entries (${situation.maxEntries})`;
    case "starting":
      return situation.refusal?.reason ?? "they were not received yet";
    case "lost":
      return situation.refusal?.reason ?? `nothing was received for ${LOSS_MS / 1000} seconds`;
    case "apart":
      return difference(situation);
  }
}

/** Logs a new state. */
export function logFeedState(state: FeedState, situation: FeedSituation): void {
  const { logger, onLoss, maxEntries, size, reason } = situation;
  const then = onLoss === "refuse" ? "calls with a token are refused" : "on_loss is serve";
  switch (state) {
    case "live":
      logger.info({ revocations: size }, "the revocations of tokens are known");
      return;
    case "lost":
      logger.error(
        { reason },
        `the revocations of tokens are not known: nothing was received for ${LOSS_MS / 1000} seconds; ${then}`,
      );
      return;
    case "full":
      logger.error(
        { max_entries: maxEntries },
        "there are more revocations of tokens than security.authn.revocation.max_entries: calls with a token are refused until there are fewer, or the service is started with a larger number",
      );
      return;
    case "apart":
      logger.error({}, `${difference(situation)}; ${then}`);
      return;
    case "starting":
      return;
  }
}

function difference({ aheadMs }: FeedSituation): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  return `the clock of this process is ${seconds} seconds ${aheadMs > 0 ? "ahead of" : "behind"} that of IAM`;
}
