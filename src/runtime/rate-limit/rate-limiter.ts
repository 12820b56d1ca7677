import type { BoundMethod } from "../binding/bound-method.ts";
import type { Call } from "../call/call.ts";
import { ServiceError } from "../error/service-error.ts";
import type { RuntimeEvents } from "../events/runtime-events.ts";
import { clientNetwork } from "../peer/ip-address.ts";
import {
  BucketBudget,
  type BucketRate,
  BucketTable,
  fillTime,
  microseconds,
  type TokenBucket,
} from "./bucket-table.ts";

/** The options of a rate limiter. */
export interface RateLimiterOptions {
  /** Whole microseconds; those of the process if absent. */
  readonly now?: () => number;
  /** The most buckets of authenticated callers, and the most of addresses, of all RPCs together; 50,000 if absent. */
  readonly maxBuckets?: number;
  readonly events: RuntimeEvents;
}

const MAX_BUCKETS = 50_000;
const SECOND = 1_000_000;

/** An RPC with a limit. */
interface LimitedMethod {
  /** By subject id: a key that need not be put together. */
  readonly users: BucketTable;
  /** Callers of other types, by type and subject id. */
  readonly others: BucketTable;
  readonly addresses: BucketTable;
  readonly limit: string;
  readonly policy: string;
}

/**
 * Makes the stage that limits how often a caller calls an RPC, by its policy. A caller is its
 * principal, else its address. Responses of limited RPCs have the remaining calls
 * (`RateLimit-Limit`, `-Remaining`, `-Reset`, `-Policy`).
 *
 * @returns the stage; it throws ServiceError RATE_LIMITED
 */
export function createRateLimiter(options: RateLimiterOptions): (call: Call) => void {
  const { now = microseconds, maxBuckets = MAX_BUCKETS, events } = options;
  // Two, since addresses cost nothing: a client with many must not use the room of authenticated
  // callers.
  const budgets = {
    callers: new BucketBudget(maxBuckets),
    addresses: new BucketBudget(maxBuckets),
  };
  const limited = new Map<BoundMethod, LimitedMethod>();
  return (call) => {
    const { method } = call;
    const rate = method.policy.rateLimit;
    if (rate === undefined) return;
    const time = now();
    let entry = limited.get(method);
    if (entry === undefined) {
      entry = limitedMethod(rate, budgets, time);
      limited.set(method, entry);
    }
    const bucket = bucketOf(call, entry, time);
    const taken = bucket.take(time);
    describe(call, entry, bucket);
    if (taken) return;
    events.rateLimited(call.rpc);
    const retryAfterSeconds = seconds(bucket.microsecondsToToken);
    throw new ServiceError("RATE_LIMITED", undefined, { retryAfterSeconds });
  };
}

function limitedMethod(
  rate: BucketRate,
  budgets: Readonly<Record<"callers" | "addresses", BucketBudget>>,
  now: number,
): LimitedMethod {
  return {
    users: new BucketTable(rate, budgets.callers, now),
    others: new BucketTable(rate, budgets.callers, now),
    addresses: new BucketTable(rate, budgets.addresses, now),
    limit: String(rate.burst),
    // A token bucket lets `burst` calls through in the time in which it fills.
    policy: `${rate.burst};w=${seconds(fillTime(rate))}`,
  };
}

function bucketOf(call: Call, limited: LimitedMethod, now: number): TokenBucket {
  const { principal } = call;
  if (principal === undefined) {
    return limited.addresses.of(clientNetwork(call.clientAddress), now);
  }
  const { subjectType, subjectId } = principal;
  if (subjectType === "user") return limited.users.of(subjectId, now);
  // No subject type has a space, so no two callers have the same key.
  return limited.others.of(`${subjectType} ${subjectId}`, now);
}

function describe(call: Call, { limit, policy }: LimitedMethod, bucket: TokenBucket): void {
  call.setResponseHeader("ratelimit-limit", limit);
  call.setResponseHeader("ratelimit-remaining", String(bucket.tokens));
  call.setResponseHeader("ratelimit-reset", String(seconds(bucket.microsecondsToFull)));
  call.setResponseHeader("ratelimit-policy", policy);
}

function seconds(microseconds: number): number {
  return Math.ceil(microseconds / SECOND);
}
