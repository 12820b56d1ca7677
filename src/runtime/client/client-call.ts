import type { DescMethod } from "@bufbuild/protobuf";
import type { CallHeaders } from "../call/call-headers.ts";
import type { CallContext } from "../call-context.ts";

/** What a caller may say of one call. */
export interface ClientCallOptions {
  /** The call that is being served: its request id, trace, deadline and cancellation go on. Its identity does not. */
  readonly context?: CallContext;
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
  /** The full method name. */
  readonly rpc: string;
  readonly transport: "http" | "grpc";
  readonly method: DescMethod;
  /** The request, or the stream of requests. */
  readonly request: unknown;
  /** What is sent along, by names in lower case. Interceptors may change it. */
  readonly headers: Map<string, string>;
  readonly options: ClientCallOptions;
  /** Whether a second call does no more than the first. */
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
 * const named: ClientInterceptor = (call, next) => {
 *   call.headers.set("x-caller", "reports");
 *   return next();
 * };
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
