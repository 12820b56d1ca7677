import type { Context, Span } from "@opentelemetry/api";

/** The span of a call that is being served, and the context in which its handler runs. */
export interface TracedCall {
  readonly span: Span;
  readonly context: Context;
}

/** The traced calls under way, by their `CallContext`: clients go on below the call that they are given. */
export const tracedCalls = new WeakMap<object, TracedCall>();
