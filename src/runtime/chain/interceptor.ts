import type { CallContext } from "../call/call-context.ts";
import type { CallHeaders } from "../call/call-headers.ts";
import type { Transport } from "../call/transports.ts";

/** A call as interceptors and admission checks see it. */
export interface InterceptedCall extends CallContext {
  /** The protocol that the call came by. */
  readonly transport: Transport;
  /**
   * As they were sent, at the place `before`: nobody has checked them there, and whoever calls
   * may have written them. After it without the identity headers of peers that are not trusted.
   */
  readonly headers: CallHeaders;
  /**
   * The decoded request, or the stream of requests; undefined at the place `before`. What
   * authorization was decided on: changed after it, the handler acts on another object.
   */
  readonly request: unknown;
}

/**
 * Wraps the rest of the chain. It may look at the call, refuse it by throwing a
 * `ServiceError`, or look at the response, which is a message or an async iterable
 * of messages. It must return what `next` gives, or a response of the same kind.
 *
 * It may call `next` again, such as to retry, and the rest of the chain runs again: authentication,
 * rate limit (which counts it again), authorization and handler at the place `before`, only the
 * handler at `after`. The request was read once, and each run has the same object; so the handler of
 * a stream of requests is called once, and again it is an error. The time of the call is one: once it
 * is up, or the caller has gone, `next` rejects. The call has one audit event, which says that the
 * handler succeeded where one of its runs did, and in `answered` what the caller was sent instead.
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
 * Whether a call that is authenticated and authorized is let in all the same, such
 * as by quota or a maintenance window. Refuses by throwing a `ServiceError`.
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
