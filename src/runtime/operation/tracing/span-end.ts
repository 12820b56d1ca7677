import type { Attributes } from "@opentelemetry/api";

/** What a span says of the end of its call. */
export interface SpanEnd {
  readonly attributes: Attributes;
  /** What went wrong on this side; absent where the caller got what it asked for. */
  readonly errorType?: string;
}
