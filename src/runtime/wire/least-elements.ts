import type { DescMessage } from "@bufbuild/protobuf";

/** Making a message of so many fields takes as long, and as much memory, as reading one value. */
const FIELDS = 16;

/**
 * As many elements a message counts at least: two bytes make one with all its fields, of which
 * protobuf-es keeps also those that are not given.
 */
export function leastElements({ members }: DescMessage): number {
  return Math.ceil(members.length / FIELDS);
}
