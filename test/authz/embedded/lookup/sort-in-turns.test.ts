import fc from "fast-check";
import { expect, test } from "vitest";
import type { Steps } from "../../../../src/authz/embedded/graph/turns.ts";
import { orderOf, sortedTexts } from "../../../../src/authz/embedded/lookup/sort-in-turns.ts";

/** The result, and how often the work could have paused. */
function finish<Result>(steps: Steps<Result>): {
  readonly result: Result;
  readonly pauses: number;
} {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next();
    if (done === true) return { result: value, pauses };
  }
}

test("the order is that of the texts, for each number of them around a run and its merges", () => {
  for (const count of [0, 1, 2, 4095, 4096, 4097, 8192, 8193, 12_288, 12_289, 40_000]) {
    const texts = Array.from({ length: count }, (_, index) => `p${(index * 7919) % 1_000_003}`);
    const { result } = finish(orderOf(texts));
    expect(Array.from(result, (index) => texts[index])).toEqual(texts.toSorted());
    expect(finish(sortedTexts([...texts])).result).toEqual(texts.toSorted());
  }
});

test("any texts are sorted as JavaScript compares them, and equal ones are kept", () => {
  const texts = fc.array(fc.string({ unit: "binary", maxLength: 4 }), { maxLength: 200 });
  fc.assert(
    fc.property(texts, (some) => {
      // Several runs, with every text in each of them.
      const many = Array.from({ length: 9000 }, (_, index) => some[index % some.length] ?? "");
      expect(finish(sortedTexts([...many])).result).toEqual(many.toSorted());
    }),
    { numRuns: 20 },
  );
});

test("a pause is possible after each few thousand texts, and a short list has none", () => {
  const texts = Array.from({ length: 100_000 }, (_, index) => String(index));
  // 25 runs, and 5 times all texts merged.
  expect(finish(sortedTexts(texts)).pauses).toBeGreaterThan(25 + 4 * 20);
  expect(finish(sortedTexts(texts.slice(0, 4096))).pauses).toBe(0);
});
