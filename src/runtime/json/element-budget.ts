import type { DescMessage } from "@bufbuild/protobuf";
import { ServiceError } from "../error/service-error.ts";
import { leastElements } from "../wire/message-memory.ts";
import { hasOwnJsonForm } from "./field-names.ts";

/** The limits of one message. */
export interface ElementLimits {
  /**
   * The most elements: each value of an object, item of a list and word of a field mask, at any
   * depth. A message counts at least one for each 16 of its fields, given or not. The cost of
   * reading a message depends on them, not on its bytes.
   */
  readonly maxElements: number;
}

/** The remaining elements of a message. */
export class ElementBudget {
  readonly #limit: number;
  #left: number;

  constructor({ maxElements }: ElementLimits, times = 1) {
    this.#limit = maxElements;
    this.#left = maxElements * times;
  }

  /** Whether they could be too many if each that was taken, and the whole, counted as several. */
  isShortOf(several: number): boolean {
    return (this.#limit - this.#left + 1) * several > this.#limit;
  }

  /** @throws ServiceError PAYLOAD_TOO_LARGE once they are too many */
  take(count: number): void {
    this.#left -= count;
    if (this.#left >= 0) return;
    throw new ServiceError(
      "PAYLOAD_TOO_LARGE",
      `the body has more than ${this.#limit} elements (server.max_message_elements)`,
    );
  }
}

/** The most elements that a message anywhere in this one counts of itself. */
export function mostElements(message: DescMessage, seen = new Set<DescMessage>()): number {
  if (seen.has(message) || hasOwnJsonForm(message)) return 1;
  seen.add(message);
  let most = leastElements(message);
  for (const { message: inner } of message.fields) {
    if (inner !== undefined) most = Math.max(most, mostElements(inner, seen));
  }
  return most;
}
