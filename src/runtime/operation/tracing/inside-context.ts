import type { Context } from "@opentelemetry/api";
import { openTelemetry } from "./open-telemetry.ts";

/** Whether a response is a stream of messages, by what it is. */
export function isAsyncIterable(response: unknown): response is AsyncIterable<unknown> {
  return typeof response === "object" && response !== null && Symbol.asyncIterator in response;
}

/** Each step of a stream runs inside the context: a generator forgets where it was begun. */
export function eachInside(
  active: Context,
  responses: AsyncIterable<unknown>,
): AsyncIterable<unknown> {
  const { context } = openTelemetry();
  const iterator = responses[Symbol.asyncIterator]();
  const inside: AsyncIterator<unknown> & AsyncIterable<unknown> = {
    next: () => context.with(active, () => iterator.next()),
    return: (value) =>
      context.with(active, async () => {
        return (await iterator.return?.(value)) ?? { done: true, value };
      }),
    [Symbol.asyncIterator]: () => inside,
  };
  return inside;
}
