import { retry as cockatielRetry, DelegateBackoff, handleWhen } from "cockatiel";
import { isStreaming } from "../../binding/bound-method.ts";
import { ServiceError } from "../../error/service-error.ts";
import { isUnsent } from "../call/call-failure.ts";
import type { ClientCall, ClientInterceptor, RetryOptions } from "../call/client-call.ts";

const DEFAULT_ATTEMPTS = 3;
const DEFAULT_INITIAL_DELAY_MS = 50;
const DEFAULT_MAX_DELAY_MS = 2000;

/**
 * Retries a call if that is safe: an idempotent one that the target could not accept, and any one
 * that was not sent. Never a stream, and never beyond the deadline.
 */
export function retry(options: RetryOptions): ClientInterceptor {
  const retries = (options.maxAttempts ?? DEFAULT_ATTEMPTS) - 1;
  return (call, next) => {
    if (retries < 1 || isStreaming(call.method.methodKind)) return next();
    let failures = 0;
    let delay = 0;
    const policy = cockatielRetry(
      handleWhen((error: unknown) => {
        delay = delayBefore(error, failures++, options);
        return isSafe(error, call) && Date.now() + delay < call.deadline;
      }),
      { maxAttempts: retries, backoff: new DelegateBackoff(() => delay) },
    );
    const attempt = (): Promise<unknown> =>
      // During the delay the caller may have given up.
      call.signal?.aborted === true ? Promise.reject(call.signal.reason) : next();
    return policy.execute(attempt, call.signal);
  };
}

function isSafe(error: unknown, call: ClientCall): boolean {
  if (!(error instanceof ServiceError) || error.code !== "UNAVAILABLE") return false;
  return call.isIdempotent || isUnsent(error);
}

/**
 * Random, so that clients that failed together do not retry together; not sooner than the target
 * asks.
 */
function delayBefore(error: unknown, failures: number, options: RetryOptions): number {
  const initial = options.initialDelayMs ?? DEFAULT_INITIAL_DELAY_MS;
  const most = Math.min(options.maxDelayMs ?? DEFAULT_MAX_DELAY_MS, initial * 2 ** failures);
  const asked = error instanceof ServiceError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  return Math.max(asked, Math.random() * most);
}
