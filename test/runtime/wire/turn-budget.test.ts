import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { TurnBudget } from "../../../src/runtime/wire/turn-budget.ts";

/** Calls that each encode so many bytes, once the budget has any. */
function calls(budget: TurnBudget, count: number, bytes: number): number[] {
  const done: number[] = [];
  const one = async (id: number): Promise<void> => {
    if (budget.isSpent) await budget.next();
    // As a handler that has what it needs.
    await Promise.resolve();
    budget.spend(bytes);
    done.push(id);
  };
  for (let id = 0; id < count; id++) void one(id);
  return done;
}

test("calls beyond the budget of a turn continue in later turns, in order [TRANS-4]", async () => {
  const budget = new TurnBudget(100);
  budget.spend(100);
  const done = calls(budget, 5, 50);
  await Promise.resolve();
  expect(done).toEqual([]);
  await nextTurn();
  expect(done).toEqual([0, 1]);
  const later = calls(budget, 1, 50);
  await nextTurn();
  expect(done).toEqual([0, 1, 2, 3]);
  await nextTurn();
  expect([...done, later.length]).toEqual([0, 1, 2, 3, 4, 1]);
});

test("a turn has bytes again after the previous one has spent some", async () => {
  const budget = new TurnBudget(100);
  budget.spend(60);
  expect(budget.isSpent).toBe(false);
  await nextTurn();
  budget.spend(60);
  expect(budget.isSpent).toBe(false);
  budget.spend(60);
  expect(budget.isSpent).toBe(true);
  await nextTurn();
  expect(budget.isSpent).toBe(false);
});

test("a response that is larger than the budget is encoded alone in its turn", async () => {
  const budget = new TurnBudget(100);
  budget.spend(1000);
  const done = calls(budget, 3, 1000);
  for (let turn = 1; turn <= 3; turn++) {
    await nextTurn();
    expect(done).toHaveLength(turn);
  }
});
