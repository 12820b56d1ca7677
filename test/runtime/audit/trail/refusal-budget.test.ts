import { expect, test } from "vitest";
import { RefusalBudget } from "../../../../src/runtime/audit/trail/repeated-refusals.ts";

const MINUTE = 60_000;

test("one caller uses up its own part, and that of others is left", () => {
  const budget = new RefusalBudget({ open: 9, perCaller: 2, perMinute: 9 });
  expect(["a", "a", "a", "b", "a", "b"].map((caller) => budget.take(caller, 0))).toEqual([
    true,
    true,
    false,
    true,
    false,
    true,
  ]);
});

test("all callers together have a part too", () => {
  const budget = new RefusalBudget({ open: 9, perCaller: 2, perMinute: 3 });
  expect(["a", "b", "c", "d"].map((caller) => budget.take(caller, 0))).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test("what was used counts for a minute, also where it is asked for again", () => {
  const budget = new RefusalBudget({ open: 9, perCaller: 1, perMinute: 2 });
  expect(budget.take("a", 0)).toBe(true);
  expect(budget.take("b", MINUTE / 2)).toBe(true);
  expect(budget.take("a", MINUTE - 1)).toBe(false);
  expect(budget.take("a", MINUTE)).toBe(true);
  // It began half a minute later.
  expect(budget.take("b", MINUTE)).toBe(false);
  expect(budget.take("b", 1.5 * MINUTE)).toBe(true);
});
