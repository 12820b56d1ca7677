import { create, toBinary } from "@bufbuild/protobuf";
import { SourceCodeInfoSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FileLocations } from "../../../src/api/descriptors/file-locations.ts";

const RPC = [6, 0, 2, 0];

interface Place {
  readonly path: readonly number[];
  readonly line: number;
}

const location = (line: number, ...inside: number[]): Place => ({
  path: [...RPC, ...inside],
  line,
});

/** Enough locations for an index, all of another option of the RPC. */
const others = Array.from({ length: 400 }, (_, index) => location(index, 4, 1000 + index));

/** The line of the location that is found for a path in the RPC. */
function findLine(locations: readonly Place[], inside: readonly number[]): number | undefined {
  const location = locations.map(({ path, line }) => {
    return { path: [...path], span: [line - 1, 0, 1] };
  });
  const bytes = toBinary(SourceCodeInfoSchema, create(SourceCodeInfoSchema, { location }));
  return new FileLocations(bytes).findInRpc([...RPC, ...inside])?.line;
}

describe.each([
  ["few", []],
  ["many", others],
])("of %s locations", (_, beside) => {
  const lineOf = (locations: readonly Place[], ...inside: number[]) =>
    findLine([...locations, ...beside], inside);

  test("finds that of the element itself", () => {
    expect(lineOf([location(1, 4), location(3, 4, 9, 2), location(2, 4, 9)], 4, 9, 2)).toBe(3);
  });

  test("otherwise finds that of the innermost element around it", () => {
    expect(lineOf([location(1, 4), location(2, 4, 9), location(3, 4, 8)], 4, 9, 2)).toBe(2);
    expect(lineOf([location(1, 4), location(3, 4, 8)], 4, 9, 2)).toBe(1);
    expect(lineOf([location(1, 1), location(3, 2)], 4, 9, 2)).toBeUndefined();
  });

  test("the first piece below is the location of an option, or a field of it, without one", () => {
    expect(lineOf([location(1, 4), location(7, 4, 9, 2, 1), location(5, 4, 9, 3)], 4, 9)).toBe(5);
    expect(lineOf([location(5, 4, 9, 3), location(7, 4, 9, 2, 1)], 4, 9, 2, 4)).toBe(7);
    // There are no pieces of another option.
    expect(lineOf([location(1, 4), location(5, 4, 8, 3)], 4, 9)).toBe(1);
  });

  test("of several with one path, the first in the text is used", () => {
    expect(lineOf([location(9, 4, 9), location(4, 4, 9), location(6, 4, 9)], 4, 9)).toBe(4);
  });
});

test("small and large numbers of locations give the same results", () => {
  const step = fc.integer({ min: 1, max: 3 });
  const inside = fc
    .tuple(fc.constantFrom(1, 4, 4, 4), fc.array(step, { maxLength: 4 }))
    .map(([first, rest]) => [first, ...rest]);
  const locations = fc.array(
    fc.tuple(fc.integer({ min: 1, max: 5 }), inside).map(([line, path]) => location(line, ...path)),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(locations, inside, (all, path) => {
      expect(findLine(all, path)).toBe(findLine([...all, ...others], path));
    }),
  );
});
