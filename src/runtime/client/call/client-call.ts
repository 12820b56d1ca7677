import type { DescMethod } from "@bufbuild/protobuf";
import type { CallContext } from "../../call/call-context.ts";
import type { CallHeaders } from "../../call/call-headers.ts";

/**
 * What a caller may say of one call.
 *
 * @example
 * ```ts
 * await notes.setItem({ itemId: "first", text: "hello" }, { context, timeoutMs: 500 });
 * ```
 */
export interface ClientCallOptions {
  /** The call that is being served: its request id, trace, deadline and cancellation go on. Its identity does not. */
  readonly context?: CallContext;
  /** Ends the call, beside `context`: it rejects with CANCELLED, or the `ServiceError` that is the reason. */
  readonly signal?: AbortSignal;
  /** At most so long, in milliseconds, instead of the client's own timeout; Infinity for as long as it takes. */
  readonly timeoutMs?: number;
  /** Headers of this call; names in any case, `-bin` values in base64. Several values are sent joined by commas. */
  readonly metadata?: Readonly<Record<string, string | readonly string[]>>;
  /** Is given the headers of the response, or its initial metadata, as they come; of each attempt that gets any. */
  readonly onHeaders?: (headers: CallHeaders) => void;
  /** Is given the trailing metadata of gRPC, also of a call that failed, before the caller sees its end. */
  readonly onTrailers?: (trailers: CallHeaders) => void;
}

/** A call on its way out, as client interceptors see it. */
export interface ClientCall {
  /** The full method name, such as `notes.v1.NotesService/SetItem`. */
  readonly rpc: string;
  /** The protocol that it goes out by. */
  readonly transport: "http" | "grpc";
  /** The descriptor of protoc-gen-es. */
  readonly method: DescMethod;
  /** The request, or the stream of requests. */
  readonly request: unknown;
  /** What is sent along, by names in lower case. Interceptors may change it. */
  readonly headers: Map<string, string>;
  /** What the caller said of this call. */
  readonly options: ClientCallOptions;
  /** Whether a second call does no more than the first: by `idempotency_level`, or by its HTTP method. */
  readonly isIdempotent: boolean;
  /** When the call must be done, in milliseconds since the epoch; set by the timeout stage. */
  deadline: number;
  /** Whether the deadline is this client's own, rather than what the served call has left. */
  deadlineIsOwn: boolean;
  /** Aborts when the caller gives up or the time is up, with a `ServiceError` as reason; set by the timeout stage. */
  signal: AbortSignal | undefined;
}

/**
 * Wraps the rest of the client's chain. It may change the headers, refuse the call by
 * throwing a `ServiceError`, or look at the response, which is a message or an async
 * iterable of messages. It must return what `next` gives, or a response of the same kind.
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

/** Sends calls: gRPC or HTTP. It throws nothing but `ServiceError`, except for what the request itself throws. */
export interface ClientTransport {
  readonly name: "http" | "grpc";
  /** Whether a second call of a method does no more than the first. */
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
  /** How long a call with one response may take, in milliseconds; 5000 where absent, Infinity for as long as it takes. */
  readonly timeoutMs?: number;
  /** How long a streaming call may take, in milliseconds; an hour where absent, Infinity likewise. */
  readonly streamTimeoutMs?: number;
  /** How this program names itself; `svc-access` where absent. */
  readonly userAgent?: string;
  /** The token of calls between services, or where to get it: a function sees rotations, such as `secretFile` gives. */
  readonly internalToken?: string | (() => string);
  /** The name of the header that carries it; `X-Svc-Internal-Token` where absent. */
  readonly internalTokenHeader?: string;
  /** Headers of every call; names in any case, `-bin` values in base64. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Interceptors before all else. */
  readonly before?: readonly ClientInterceptor[];
  /** Interceptors after all else: they see each attempt. */
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

/** A token bucket of the client's own: a call that finds it empty is not sent, but RATE_LIMITED. */
export interface ClientRateLimit {
  /** Calls a second, more than 0. */
  readonly qps: number;
  /** The size of the bucket, in calls, at least 1; `qps` where absent. */
  readonly burst?: number;
}

/**
 * When the circuit opens, and for how long: until then calls are UNAVAILABLE without being sent. What
 * counts as a failure is UNAVAILABLE, INTERNAL, and the end of the client's own time.
 */
export interface CircuitBreakerOptions {
  /** It opens after so many failures in a row; 10 where neither this nor `failureRate` is given. */
  readonly consecutiveFailures?: number;
  /** Or it opens where more than this part of the calls fails: above 0 and below 1. */
  readonly failureRate?: number;
  /** Over how long `failureRate` is taken, in milliseconds; 10,000 where absent. */
  readonly samplingMs?: number;
  /** How long it stays open before one call is let through to try, in milliseconds; 5000 where absent. */
  readonly openMs?: number;
}

/**
 * How often and how soon a call is tried again that was UNAVAILABLE: an idempotent one, or one of which
 * nothing was sent (docs/requirements.md, CLI-2). Never a stream, and never beyond the deadline.
 */
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
