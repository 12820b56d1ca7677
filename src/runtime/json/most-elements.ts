import type { DescMessage } from "@bufbuild/protobuf";
import { leastElements } from "../wire/least-elements.ts";
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
