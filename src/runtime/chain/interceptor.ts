import type { CallContext } from "../call/call-context.ts";
import type { CallHeaders } from "../call/call-headers.ts";
import type { Transport } from "../call/transports.ts";

/** A call as interceptors and admission checks see it. */
export interface InterceptedCall extends CallContext {
  /** The protocol of the call. */
  readonly transport: Transport;
  /**
   * In `before`, the headers as sent: they are not checked there, and the caller may have forged
   * them. Later, without the identity headers of untrusted peers.
   */
  readonly headers: CallHeaders;
  /**
   * The decoded request, or the request stream; undefined in `before`. Authorization was decided on
   * it: if you change it afterwards, the handler acts on another object.
   */
  readonly request: unknown;
}

/**
 * Wraps the rest of the chain. It may inspect the call, refuse it by throwing a `ServiceError`, or
 * inspect the response, which is a message or an async iterable of messages. It must return the
 * result of `next`, or a response of the same kind.
 *
 * It may call `next` again, for example to retry, and the rest of the chain runs again:
 * authentication, rate limit (which counts it again), authorization and handler in `before`, only
 * the handler in `after`. The request is read once, and each run has the same object; so the
 * handler of a request stream can be called once, and a second call is an error. All runs share the
 * deadline of the call: once it has passed, or the caller has cancelled, `next` rejects. The call has
 * one audit event, which records success if one of its runs succeeded, and in `answered` the
 * response to the caller if it differs.
 *
 * @example
 * ```ts
 * const timed: Interceptor = async (call, next) => {
 *   const begin = performance.now();
 *   try {
 *     return await next();
 *   } finally {
 *     console.error(call.rpc, performance.now() - begin);
 *   }
 * };
 * ```
 */
export type Interceptor = (call: InterceptedCall, next: () => Promise<unknown>) => Promise<unknown>;

/**
 * A further check of an authenticated and authorized call, such as a quota or a maintenance window.
 * Refuses by throwing a `ServiceError`.
 *
 * @example
 * ```ts
 * const closed: AdmissionCheck = () => {
 *   throw new ServiceError("UNAVAILABLE", "closed", { retryAfterSeconds: 3600 });
 * };
 * ```
 */
export type AdmissionCheck = (call: InterceptedCall) => void | Promise<void>;

/** Runs interceptors from the first to the last, then the rest. */
export function intercept(
  interceptors: readonly Interceptor[],
  call: InterceptedCall,
  rest: () => Promise<unknown>,
): Promise<unknown> {
  let next = rest;
  for (let index = interceptors.length - 1; index >= 0; index--) {
    const interceptor = interceptors[index] as Interceptor;
    const inner = next;
    next = () => interceptor(call, inner);
  }
  return next();
}
