import type { DescMethod } from "@bufbuild/protobuf";
import type { CallContext } from "../../call/call-context.ts";
import type { CallHeaders } from "../../call/call-headers.ts";

/**
 * The options of one call.
 *
 * @example
 * ```ts
 * await notes.setItem({ itemId: "first", text: "hello" }, { context, timeoutMs: 500 });
 * ```
 */
export interface ClientCallOptions {
  /**
   * The call that is being served: its request id, trace, deadline and cancellation are propagated.
   * Its identity is not.
   */
  readonly context?: CallContext;
  /**
   * Ends the call, in addition to `context`: it rejects with CANCELLED, or the `ServiceError` that
   * is the reason.
   */
  readonly signal?: AbortSignal;
  /** The timeout in milliseconds, instead of the client's own; Infinity for none. */
  readonly timeoutMs?: number;
  /** Headers of this call; names in any case, `-bin` values in base64. Several values are sent joined by commas. */
  readonly metadata?: Readonly<Record<string, string | readonly string[]>>;
  /**
   * Called with the headers of the response, or its initial metadata, when they arrive; for each
   * attempt that gets any.
   */
  readonly onHeaders?: (headers: CallHeaders) => void;
  /**
   * Called with the trailing metadata of gRPC, also for a failed call, before the caller sees its
   * end.
   */
  readonly onTrailers?: (trailers: CallHeaders) => void;
}

/** A call on its way out, as client interceptors see it. */
export interface ClientCall {
  /** The full method name, such as `notes.v1.NotesService/SetItem`. */
  readonly rpc: string;
  /** The protocol that it uses. */
  readonly transport: "http" | "grpc";
  /** The descriptor of protoc-gen-es. */
  readonly method: DescMethod;
  /** The request, or the stream of requests. */
  readonly request: unknown;
  /** The headers, by names in lower case. Interceptors may change them. */
  readonly headers: Map<string, string>;
  /** The caller's options for this call. */
  readonly options: ClientCallOptions;
  /** Whether the call is idempotent: by `idempotency_level`, or by its HTTP method. */
  readonly isIdempotent: boolean;
  /** When the call must be done, in milliseconds since the epoch; set by the timeout stage. */
  deadline: number;
  /** Whether the deadline is this client's own, rather than that of the call being served. */
  deadlineIsOwn: boolean;
  /** Aborts when the caller gives up or the time is up, with a `ServiceError` as reason; set by the timeout stage. */
  signal: AbortSignal | undefined;
}

/**
 * Wraps the rest of the client's chain. It may change the headers, refuse the call by throwing a
 * `ServiceError`, or inspect the response, which is a message or an async iterable of messages. It
 * must return the result of `next`, or a response of the same kind.
 *
 * @example
 * ```ts
 * const named: ClientInterceptor = (call, next) => {
 *   call.headers.set("x-caller", "reports");
 *   return next();
 * };
 * ```
 */
export type ClientInterceptor = (
  call: ClientCall,
  next: () => Promise<unknown>,
) => Promise<unknown>;

/**
 * Sends calls: gRPC or HTTP. It throws only `ServiceError`, except for errors of the request
 * itself.
 */
export interface ClientTransport {
  readonly name: "http" | "grpc";
  /** Whether a method is idempotent. */
  isIdempotent(method: DescMethod): boolean;
  /** The response: a message, or an async iterable of messages once the response has begun. */
  send(call: ClientCall): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * The options of clients of both transports. The order of the stages is CLI-1 of docs/requirements.md.
 *
 * @example
 * ```ts
 * const options: ClientOptions = {
 *   timeoutMs: 2000,
 *   retry: { maxAttempts: 5, maxDelayMs: 500 },
 *   circuitBreaker: { failureRate: 0.5, samplingMs: 5000 },
 *   rateLimit: { qps: 100, burst: 200 },
 * };
 * const notes = createGrpcClient(NotesService, { ...options, target: "notes:19010" });
 * ```
 */
export interface ClientOptions {
  /**
   * How long a call with one response may take, in milliseconds; 5000 by default, Infinity for no
   * limit.
   */
  readonly timeoutMs?: number;
  /**
   * How long a streaming call may take, in milliseconds; an hour by default, Infinity for no limit.
   */
  readonly streamTimeoutMs?: number;
  /** How this program names itself; `svc-access` if absent. */
  readonly userAgent?: string;
  /**
   * The token of calls between services, or a function that returns it, such as `secretFile`, which
   * follows rotations.
   */
  readonly internalToken?: string | (() => string);
  /** The name of the header that carries it; `X-Svc-Internal-Token` if absent. */
  readonly internalTokenHeader?: string;
  /** Headers of every call; names in any case, `-bin` values in base64. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Interceptors before all other stages. */
  readonly before?: readonly ClientInterceptor[];
  /** Interceptors after all other stages: they see each attempt. */
  readonly after?: readonly ClientInterceptor[];
  /** How often this client may call; absent, without a limit. */
  readonly rateLimit?: ClientRateLimit;
  /** When calls are no longer tried for a while; false for never. */
  readonly circuitBreaker?: CircuitBreakerOptions | false;
  /** How calls are retried; false for never. */
  readonly retry?: RetryOptions | false;
  /** The largest response message, in bytes; 4 MiB if absent. */
  readonly maxResponseBytes?: number;
}

/**
 * The client's own token bucket: if it is empty, a call is not sent, and fails with RATE_LIMITED.
 */
export interface ClientRateLimit {
  /** Calls a second, more than 0. */
  readonly qps: number;
  /** The size of the bucket, in calls, at least 1; `qps` if absent. */
  readonly burst?: number;
}

/**
 * When the circuit opens, and for how long: while it is open, calls fail with UNAVAILABLE without
 * being sent. Failures are UNAVAILABLE, INTERNAL, and the end of the client's own timeout.
 */
export interface CircuitBreakerOptions {
  /** It opens after this many consecutive failures; 10 if neither this nor `failureRate` is set. */
  readonly consecutiveFailures?: number;
  /** Or it opens if more than this fraction of the calls fails: above 0 and below 1. */
  readonly failureRate?: number;
  /** The period of `failureRate`, in milliseconds; 10,000 if absent. */
  readonly samplingMs?: number;
  /** How long it stays open before one call is let through to try, in milliseconds; 5000 if absent. */
  readonly openMs?: number;
}

/**
 * How often and how soon an UNAVAILABLE call is retried: an idempotent one, or one that was not
 * sent (docs/requirements.md, CLI-2). Never a stream, and never beyond the deadline.
 */
export interface RetryOptions {
  /** All attempts together, the first included; 3 if absent. */
  readonly maxAttempts?: number;
  /** The first delay, in milliseconds, which doubles; 50 if absent. The delays are random up to that. */
  readonly initialDelayMs?: number;
  /** The largest delay, in milliseconds; 2000 if absent. */
  readonly maxDelayMs?: number;
}

/** The largest response message where the options do not say. */
export const DEFAULT_MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** How this program names itself where the options do not say. */
export const DEFAULT_USER_AGENT = "svc-access";
