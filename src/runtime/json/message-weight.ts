import type { DescMessage } from "@bufbuild/protobuf";
import { ELEMENT_BYTES, leastElements } from "../wire/message-elements.ts";
import type { MessageLimits } from "./element-budget.ts";
import { hasOwnJsonForm } from "./field-names.ts";

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

/** What a byte of JSON takes once it is decoded, at its worst but for a few: `{}` is an object. */
const BYTES_OF_A_BYTE = 8;

/** What a message takes in memory once it is read from so many bytes of JSON, at most, in bytes. */
export function jsonWeight(length: number, { maxElements }: MessageLimits): number {
  return length + Math.min((BYTES_OF_A_BYTE - 1) * length, maxElements * ELEMENT_BYTES);
}
