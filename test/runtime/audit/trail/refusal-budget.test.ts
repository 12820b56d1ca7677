import { expect, test } from "vitest";
import { RefusalBudget } from "../../../../src/runtime/audit/trail/repeated-refusals.ts";

const MINUTE = 60_000;

test("a caller can use up its own share, but not that of others", () => {
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

test("all callers together have a limit, too", () => {
  const budget = new RefusalBudget({ open: 9, perCaller: 2, perMinute: 3 });
  expect(["a", "b", "c", "d"].map((caller) => budget.take(caller, 0))).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test("a use counts for a minute, even if more is requested", () => {
  const budget = new RefusalBudget({ open: 9, perCaller: 1, perMinute: 2 });
  expect(budget.take("a", 0)).toBe(true);
  expect(budget.take("b", MINUTE / 2)).toBe(true);
  expect(budget.take("a", MINUTE - 1)).toBe(false);
  expect(budget.take("a", MINUTE)).toBe(true);
  // It began half a minute later.
  expect(budget.take("b", MINUTE)).toBe(false);
  expect(budget.take("b", 1.5 * MINUTE)).toBe(true);
});
