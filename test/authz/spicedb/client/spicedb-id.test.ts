import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeSpicedbId, encodeSpicedbId } from "../../../../src/authz/spicedb/index.ts";
import { OBJECT_IDS, SPICEDB_OBJECT_IDS } from "../../../../src/model/object-id.ts";

const id = fc
  .oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 90 }),
    fc.string({
      unit: fc.constantFrom("=", "3", "D", "A", "F", "a", ".", "é", "|"),
      maxLength: 12,
    }),
  )
  .filter(OBJECT_IDS.allows);

describe("encodeSpicedbId", () => {
  test.each([
    ["alice", "alice"],
    ["a/b_c|d-e=f+g", "a/b_c|d-e=f+g"],
    ["--=base64==", "--=base64=="],
    ["alice@example.org", "alice=40example=2Eorg"],
    ["=41", "=3D41"],
    ["=4.", "=4=2E"],
    ["==41", "==3D41"],
    ["é", "=C3=A9"],
    ["\uFEFFa", "=EF=BB=BFa"],
    ["*", "*"],
  ])("%s becomes %s", (given, encoded) => {
    expect(encodeSpicedbId(given)).toBe(encoded);
    expect(decodeSpicedbId(encoded)).toBe(given);
  });

  test("every id becomes a valid id of SpiceDB, and is decoded again", () => {
    fc.assert(
      fc.property(id, (given) => {
        const encoded = encodeSpicedbId(given);
        expect(SPICEDB_OBJECT_IDS.allows(encoded)).toBe(true);
        expect(decodeSpicedbId(encoded)).toBe(given);
      }),
      { numRuns: 3000 },
    );
  });

  test("different ids never have the same encoding [ENG-6]", () => {
    fc.assert(
      fc.property(fc.uniqueArray(id, { minLength: 2, maxLength: 40 }), (ids) => {
        expect(new Set(ids.map(encodeSpicedbId)).size).toBe(ids.length);
      }),
    );
  });

  test("the longest id fits", () => {
    expect(encodeSpicedbId("é".repeat(128))).toHaveLength(768);
  });
});

test.each(["=41", "=FF", "a=C3", "=2e=2E=41"])(
  "decodeSpicedbId refuses %s, which is not the encoding of any id",
  (encoded) => {
    expect(() => decodeSpicedbId(encoded)).toThrow(
      expect.objectContaining({ code: "FAILED_PRECONDITION" }),
    );
  },
);
