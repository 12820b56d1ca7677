import { ServiceError } from "../../error/service-error.ts";
import type { ClientInterceptor, ClientRateLimit } from "../call/client-call.ts";

/** Refuses calls, before they are sent, that come faster than this client may call. */
export function rateLimit({ qps, burst = qps }: ClientRateLimit): ClientInterceptor {
  if (!(qps > 0) || !(burst >= 1)) {
    throw new RangeError("a rate limit must have a qps above 0 and a burst of at least 1");
  }
  let tokens = burst;
  let filledAt = performance.now();
  return (_call, next) => {
    const now = performance.now();
    tokens = Math.min(burst, tokens + ((now - filledAt) / 1000) * qps);
    filledAt = now;
    if (tokens < 1) {
      return Promise.reject(
        new ServiceError("RATE_LIMITED", "this client exceeds its own rate limit", {
          retryAfterSeconds: (1 - tokens) / qps,
        }),
      );
    }
    tokens -= 1;
    return next();
  };
}
