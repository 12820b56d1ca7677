import { getEventListeners } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { type LoopClock, TurnBudget } from "../../../src/runtime/wire/turn-budget.ts";

const LARGE = {};
const SMALL = {};

/** An event loop without other events. */
const QUIET: LoopClock = { now: () => 0, events: () => 0 };

/** Of calls whose clients stay. */
const { signal } = new AbortController();

/** The turns from the last response of one to the first of the next, where nobody else has anything to do. */
async function nextResponses(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

interface Calls {
  readonly bytes: number;
  readonly connection?: object;
  readonly rpc?: object;
}

/** Calls that each encode so many bytes, once the budget has any. */
function calls(
  budget: TurnBudget,
  names: string,
  { bytes, connection = budget, rpc = LARGE }: Calls,
  done: string[] = [],
): string[] {
  const one = async (name: string): Promise<void> => {
    if (budget.delays(rpc)) await budget.next(connection, signal);
    // As a handler that has what it needs.
    await Promise.resolve();
    if (bytes > 0) budget.spend(bytes, rpc);
    done.push(name);
  };
  for (const name of names) void one(name);
  return done;
}

test("calls beyond the budget of a turn continue in later turns, in order [TRANS-4]", async () => {
  const budget = new TurnBudget(100, QUIET);
  budget.spend(100, LARGE);
  const done = calls(budget, "abcde", { bytes: 50 });
  await Promise.resolve();
  expect(done).toEqual([]);
  await nextResponses();
  expect(done.join("")).toBe("ab");
  calls(budget, "f", { bytes: 50 }, done);
  await nextResponses();
  expect(done.join("")).toBe("abcd");
  await nextResponses();
  expect(done.join("")).toBe("abcdef");
});

test("a turn has bytes again after the previous one has spent some", async () => {
  const budget = new TurnBudget(100, QUIET);
  budget.spend(60, LARGE);
  expect(budget.isSpent).toBe(false);
  await nextTurn();
  budget.spend(60, LARGE);
  expect(budget.isSpent).toBe(false);
  budget.spend(60, LARGE);
  expect(budget.isSpent).toBe(true);
  await nextResponses();
  expect(budget.isSpent).toBe(false);
});

test("a response that is larger than the budget is encoded alone in its turn", async () => {
  const budget = new TurnBudget(100, QUIET);
  budget.spend(1000, LARGE);
  const done = calls(budget, "abc", { bytes: 1000 });
  for (let turn = 1; turn <= 3; turn++) {
    await nextResponses();
    expect(done).toHaveLength(turn);
  }
});

test("RPCs without large responses do not wait for those with them", async () => {
  const budget = new TurnBudget(100, QUIET);
  budget.spend(100, LARGE);
  expect([budget.delays(LARGE), budget.delays(SMALL)]).toEqual([true, false]);
  budget.spend(20, SMALL);
  expect(budget.delays(SMALL)).toBe(true);
  await nextResponses();
  expect([budget.delays(LARGE), budget.delays(SMALL)]).toEqual([false, false]);
});

test("a connection with many calls does not delay another one by more than one of them [TRANS-4]", async () => {
  const budget = new TurnBudget(100, QUIET);
  budget.spend(100, LARGE);
  const done = calls(budget, "abcdef", { bytes: 100 });
  calls(budget, "X", { bytes: 100, connection: {} }, done);
  for (let turn = 1; turn <= 7; turn++) await nextResponses();
  expect(done.join("")).toBe("aXbcdef");
});

test("after a turn that has spent its bytes, others have as much time as it took [TRANS-4]", async () => {
  let [now, events] = [0, 0];
  const clock: LoopClock = {
    now: () => now,
    // Each turn has an event, such as another connection, and takes 1 ms.
    events: () => {
      now++;
      return ++events;
    },
  };
  const budget = new TurnBudget(100, clock);
  budget.spend(100, LARGE);
  const done = calls(budget, "a", { bytes: 100 });
  now = 30;
  while (done.length === 0 && now < 100) await nextTurn();
  expect(now).toBeGreaterThanOrEqual(60);
  expect(now).toBeLessThan(65);
});

test("time without calls does not count as the work of a turn [TRANS-4]", async () => {
  let [now, events] = [0, 0];
  const clock: LoopClock = { now: () => now, events: () => ++events };
  const budget = new TurnBudget(100, clock);
  budget.spend(100, LARGE);
  // It continues, and has nothing large to send.
  const done = calls(budget, "a", { bytes: 0 });
  while (done.length === 0) {
    now++;
    await nextTurn();
  }
  now += 60_000;
  budget.spend(100, LARGE);
  const later = calls(budget, "b", { bytes: 100 });
  const from = now;
  while (later.length === 0 && now < from + 100) {
    now++;
    await nextTurn();
  }
  expect(now - from).toBeLessThan(10);
});

test("a call that continued and took long has a turn of its own [TRANS-4]", async () => {
  const budget = new TurnBudget(100, QUIET);
  budget.spend(100, LARGE);
  const done = calls(budget, "a", { bytes: 100 });
  await nextTurn();
  // As one that had waited before, and encodes its response only now.
  budget.spend(100, LARGE);
  await nextTurn();
  expect(done).toEqual([]);
  await nextTurn();
  expect(done).toEqual(["a"]);
});

test("where Node does not count events, time alone decides", async () => {
  let now = 1;
  const budget = new TurnBudget(100, { now: () => now, events: () => undefined });
  budget.spend(100, LARGE);
  now = 11;
  for (let turn = 1; turn <= 5; turn++) await nextTurn();
  expect(budget.isSpent).toBe(true);
  now = 21;
  await nextTurn();
  expect(budget.isSpent).toBe(false);
});

test("calls that take time and send nothing large continue for a while in each turn", async () => {
  let now = 0;
  const budget = new TurnBudget(100, { now: () => now, events: () => 0 });
  budget.spend(100, LARGE);
  const done: string[] = [];
  const slow = async (name: string): Promise<void> => {
    if (budget.delays(LARGE)) await budget.next(budget, signal);
    now += 15;
    done.push(name);
  };
  for (const name of "abcde") void slow(name);
  await nextResponses();
  expect(done.join("")).toBe("ab");
  await nextResponses();
  expect(done.join("")).toBe("abcd");
});

test("a call that is aborted waits no longer, and those after it continue [TRANS-4]", async () => {
  const budget = new TurnBudget(100, QUIET);
  budget.spend(100, LARGE);
  const [gone, abort] = [new Error("gone"), new AbortController()];
  const ended: unknown[] = [];
  const note = (reason: unknown) => ended.push(reason);
  void budget.next({}, abort.signal).catch(note);
  void budget.next(budget, abort.signal).catch(note);
  const done = calls(budget, "a", { bytes: 50 });
  abort.abort(gone);
  await Promise.resolve();
  expect(ended).toEqual([gone, gone]);
  await expect(budget.next(budget, abort.signal)).rejects.toBe(gone);
  await nextResponses();
  expect(done).toEqual(["a"]);
});

test("a call that waits often leaves nothing with its signal", async () => {
  const budget = new TurnBudget(100, QUIET);
  const abort = new AbortController();
  for (let response = 0; response < 3; response++) {
    budget.spend(100, LARGE);
    await budget.next(budget, abort.signal);
    expect(getEventListeners(abort.signal, "abort")).toEqual([]);
    await nextTurn();
  }
});
