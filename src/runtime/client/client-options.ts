import type { ClientInterceptor } from "./client-call.ts";

/** What clients of both transports may be told. */
export interface ClientOptions {
  /** How long a call with one response may take, in milliseconds; 5000 where absent, Infinity for as long as it takes. */
  readonly timeoutMs?: number;
  /** How long a streaming call may take, in milliseconds; an hour where absent, Infinity likewise. */
  readonly streamTimeoutMs?: number;
  /** How this program names itself; `svc-access` where absent. */
  readonly userAgent?: string;
  /** The token of calls between services, or where to get it: a function sees rotations, such as `secretFile` gives. */
  readonly internalToken?: string | (() => string);
  /** The header that carries it; `X-Svc-Internal-Token` where absent. */
  readonly internalTokenHeader?: string;
  /** Headers of every call; names in any case, `-bin` values in base64. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Interceptors before all else. */
  readonly before?: readonly ClientInterceptor[];
  /** Interceptors behind all else: they see each attempt. */
  readonly after?: readonly ClientInterceptor[];
  /** How often this client may call; absent, as often as it likes. */
  readonly rateLimit?: ClientRateLimit;
  /** When calls are no longer tried for a while; false for never. */
  readonly circuitBreaker?: CircuitBreakerOptions | false;
  /** How calls are tried again; false for not. */
  readonly retry?: RetryOptions | false;
  /** The largest response message, in bytes; 4 MiB where absent. */
  readonly maxResponseBytes?: number;
}

/** A token bucket. */
export interface ClientRateLimit {
  /** Calls a second. */
  readonly qps: number;
  /** The size of the bucket; `qps` where absent. */
  readonly burst?: number;
}

/** When the circuit opens, and for how long. */
export interface CircuitBreakerOptions {
  /** It opens after so many failures in a row; 10 where neither this nor `failureRate` is given. */
  readonly consecutiveFailures?: number;
  /** Or it opens where more than this part of the calls fails, 0 to 1. */
  readonly failureRate?: number;
  /** Over how long `failureRate` is taken, in milliseconds; 10,000 where absent. */
  readonly samplingMs?: number;
  /** How long it stays open before one call is let through to try, in milliseconds; 5000 where absent. */
  readonly openMs?: number;
}

/** How often and how soon a call is tried again, where that is safe. */
export interface RetryOptions {
  /** All attempts together, the first included; 3 where absent. */
  readonly maxAttempts?: number;
  /** The first delay, in milliseconds, which doubles; 50 where absent. The delays are random up to that. */
  readonly initialDelayMs?: number;
  /** The largest delay, in milliseconds; 2000 where absent. */
  readonly maxDelayMs?: number;
}

/** The largest response message where the options do not say. */
export const DEFAULT_MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** How this program names itself where the options do not say. */
export const DEFAULT_USER_AGENT = "svc-access";
