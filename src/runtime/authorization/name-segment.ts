import { segmentIndex, segmentReader } from "../../api/name-pattern.ts";
import type { AccessResourcePart } from "../access-policy.ts";
import { ServiceError } from "../error/service-error.ts";
import type { FieldReader } from "./request-field.ts";

/**
 * Makes the reader of one segment of a resource name: of `merchants/1/ledgers/2`
 * the segment `merchants` is `1`. Whatever the call came in by, the whole name
 * must match a pattern of the RPC.
 *
 * @throws Error that says why the segment can never be read
 */
export function nameSegment(
  field: FieldReader,
  { path, segment, patterns }: Extract<AccessResourcePart, { kind: "segment" }>,
): FieldReader {
  if (patterns.length === 0) throw new Error(`{${path}.${segment}} has no pattern to match`);
  const readers = patterns.map((pattern) => {
    const place = segmentIndex(pattern, segment);
    if (place.index === undefined) throw new Error(`{${path}.${segment}}: ${place.error}`);
    return segmentReader(pattern, place.index);
  });
  return (request) => {
    const name = field(request);
    if (name === undefined) return undefined;
    let found: string | undefined;
    for (const read of readers) {
      const text = read(name);
      if (text === undefined) continue;
      // Patterns that overlap may have the segment at two places; then no object is meant.
      if (found !== undefined && found !== text) throw mismatch(path, patterns);
      found = text;
    }
    if (found === undefined) throw mismatch(path, patterns);
    return found;
  };
}

function mismatch(path: string, patterns: readonly string[]): ServiceError {
  return new ServiceError(
    "INVALID_ARGUMENT",
    `the field ${path} must be a name of the form ${patterns.join(" or ")}`,
  );
}
