import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker as cockatielBreaker,
  handleWhen,
  SamplingBreaker,
} from "cockatiel";
import { ServiceError } from "../../error/service-error.ts";
import type { CircuitBreakerOptions, ClientCall, ClientInterceptor } from "../call/client-call.ts";

const DEFAULT_CONSECUTIVE_FAILURES = 10;
const DEFAULT_SAMPLING_MS = 10_000;
const DEFAULT_OPEN_MS = 5000;

/** Failures that show a problem of the target itself, not of the call. */
const TROUBLE: ReadonlySet<string> = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL"]);

/**
 * Protects an overloaded target, and saves callers the wait for it: after too many failures, calls
 * fail at once for a while, then one is tried.
 */
export function circuitBreaker(options: CircuitBreakerOptions): ClientInterceptor {
  const openMs = options.openMs ?? DEFAULT_OPEN_MS;
  let openedAt = 0;
  const policy = cockatielBreaker(
    handleWhen(() => true),
    { halfOpenAfter: openMs, breaker: breakerOf(options) },
  );
  policy.onBreak(() => {
    openedAt = Date.now();
  });
  const refused = (cause?: Error): ServiceError => {
    const rest = openedAt + openMs - Date.now();
    return new ServiceError("UNAVAILABLE", undefined, {
      retryAfterSeconds: Math.max(1, Math.ceil(rest / 1000)),
      cause,
    });
  };
  return async (call, next) => {
    // The policy would make the others wait for the trial call.
    if (policy.state === CircuitState.HalfOpen) throw refused();
    const isTrial = policy.state === CircuitState.Open;
    let refusal: unknown;
    try {
      const response = await policy.execute(async () => {
        try {
          return await next();
        } catch (error) {
          // The policy counts this as a success: a target that refuses a call is healthy.
          if (isTrouble(error, call) || (isTrial && isGivenUp(error))) throw error;
          refusal = error;
          return undefined;
        }
      });
      if (refusal !== undefined) throw refusal;
      return response;
    } catch (error) {
      throw error instanceof BrokenCircuitError ? refused(error) : error;
    }
  };
}

function breakerOf(options: CircuitBreakerOptions): ConsecutiveBreaker | SamplingBreaker {
  if (options.failureRate === undefined) {
    return new ConsecutiveBreaker(options.consecutiveFailures ?? DEFAULT_CONSECUTIVE_FAILURES);
  }
  return new SamplingBreaker({
    threshold: options.failureRate,
    duration: options.samplingMs ?? DEFAULT_SAMPLING_MS,
  });
}

/** Whether no caller waited for the response of the target: such an attempt does not show its health. */
function isGivenUp(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    (error.code === "CANCELLED" || error.code === "DEADLINE_EXCEEDED")
  );
}

function isTrouble(error: unknown, { deadlineIsOwn }: ClientCall): boolean {
  if (!(error instanceof ServiceError) || !TROUBLE.has(error.code)) return false;
  // A caller with hardly any time left shows nothing about the target.
  return error.code !== "DEADLINE_EXCEEDED" || deadlineIsOwn;
}
