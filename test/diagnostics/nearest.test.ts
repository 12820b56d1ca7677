import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { didYouMean, nearest } from "../../src/diagnostics/nearest.ts";

describe("nearest", () => {
  test.each([
    ["veiw", ["edit", "view"], "view"],
    ["View", ["view"], "view"],
    ["VIEW", ["view", "edit"], "view"],
    ["vew", ["view"], "view"],
    ["vieww", ["view"], "view"],
    ["skil", ["skill", "skill_space"], "skill"],
    ["organisation_id", ["organization_id"], "organization_id"],
    ["orgnizaton_id", ["organization_id"], "organization_id"],
    ["packages", ["package", "packages"], "packages"],
    ["idd", ["id"], "id"],
    ["ab", ["ba"], "ba"],
  ])("of %s in %j is %s", (name, candidates, expected) => {
    expect(nearest(name, candidates)).toBe(expected);
  });

  test.each([
    ["view", []],
    ["view", ["publish", "delete"]],
    ["abcd", ["wxyz"]],
    ["id", ["organization_id"]],
    ["organization", ["org"]],
    ["id", ["to"]],
    ["x", ["id"]],
    ["", ["id"]],
  ])("of %s in %j does not exist", (name, candidates) => {
    expect(nearest(name, candidates)).toBeUndefined();
  });

  test("counts a swap of neighbours as one slip, and so prefers it", () => {
    expect(nearest("abdc", ["abxx", "abcd"])).toBe("abcd");
    expect(nearest("form", ["farms", "from"])).toBe("from");
  });

  test("of candidates that are equally near is the first", () => {
    expect(nearest("cat", ["bat", "rat"])).toBe("bat");
    expect(nearest("cat", ["rat", "bat"])).toBe("rat");
  });

  test("reads any iterable, such as the keys of a map", () => {
    expect(nearest("veiw", new Map([["view", 1]]).keys())).toBe("view");
  });

  test("finds every name among its candidates, and only candidates", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (name, others) => {
        const found = nearest(name, others);
        if (found !== undefined) expect(others).toContain(found);
        expect(nearest(name, [...others, name])?.toLowerCase()).toBe(name.toLowerCase());
      }),
    );
  });

  test("finds a name with one slip in it", () => {
    const word = fc.string({ unit: fc.constantFrom(..."abcdefgh"), minLength: 3, maxLength: 12 });
    fc.assert(
      fc.property(word, fc.nat(), (name, seed) => {
        const at = seed % name.length;
        expect(nearest(name.slice(0, at) + name.slice(at + 1), [name])).toBe(name);
        expect(nearest(`${name.slice(0, at)}z${name.slice(at)}`, [name])).toBe(name);
        expect(nearest(`${name.slice(0, at)}z${name.slice(at + 1)}`, [name])).toBe(name);
      }),
    );
  });
});

test("didYouMean is the end of a sentence, or nothing", () => {
  expect(didYouMean("veiw", ["view"])).toBe('; did you mean "view"?');
  expect(didYouMean("veiw", ["publish"])).toBe("");
});
