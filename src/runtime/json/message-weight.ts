import type { DescMessage } from "@bufbuild/protobuf";
import { hasOwnJsonForm } from "./field-names.ts";

/** Making a message of so many fields takes as long, and as much memory, as reading one value. */
const FIELDS = 16;

/**
 * As many elements a message counts at least: two bytes make one with all its fields, of which
 * protobuf-es keeps also those that are not given.
 */
export function leastElements({ members }: DescMessage): number {
  return Math.ceil(members.length / FIELDS);
}

/** The most of these that a message anywhere in this one counts. */
export function mostElements(message: DescMessage, seen = new Set<DescMessage>()): number {
  if (seen.has(message) || hasOwnJsonForm(message)) return 1;
  seen.add(message);
  let most = leastElements(message);
  for (const { message: inner } of message.fields) {
    if (inner !== undefined) most = Math.max(most, mostElements(inner, seen));
  }
  return most;
}
