import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Deadlines, type Timed } from "../../../src/runtime/chain/deadlines.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const expired: string[] = [];
beforeEach(() => expired.splice(0));

function timed(name: string, then: () => void = () => undefined): Timed {
  return {
    expiresAt: 0,
    previous: undefined,
    next: undefined,
    expire() {
      expired.push(name);
      then();
    },
  };
}

test("entries that do not end in time expire, in order, and only once", () => {
  const deadlines = new Deadlines(100);
  deadlines.add(timed("a"), performance.now());
  vi.advanceTimersByTime(60);
  deadlines.add(timed("b"), performance.now());
  vi.advanceTimersByTime(39);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(2);
  expect(expired).toEqual(["a"]);
  vi.advanceTimersByTime(60);
  expect(expired).toEqual(["a", "b"]);
  vi.advanceTimersByTime(1000);
  expect(expired).toEqual(["a", "b"]);
});

test("entries that have ended do not expire, wherever they are in the queue", () => {
  const deadlines = new Deadlines(100);
  const all = ["a", "b", "c", "d"].map((name) => timed(name));
  for (const one of all) deadlines.add(one, performance.now());
  for (const index of [1, 0, 3]) deadlines.remove(all[index] as Timed);
  deadlines.remove(all[1] as Timed);
  vi.advanceTimersByTime(200);
  expect(expired).toEqual(["c"]);
});

test("entries that were never added can be removed, also beside others", () => {
  const deadlines = new Deadlines(100);
  deadlines.remove(timed("stranger"));
  deadlines.add(timed("a"), performance.now());
  deadlines.remove(timed("stranger"));
  vi.advanceTimersByTime(200);
  expect(expired).toEqual(["a"]);
});

test("entries may be added or removed while another expires", () => {
  const deadlines = new Deadlines(100);
  const last = timed("last");
  deadlines.add(
    timed("first", () => {
      deadlines.remove(last);
      deadlines.add(timed("later"), performance.now());
    }),
    performance.now(),
  );
  deadlines.add(last, performance.now());
  vi.advanceTimersByTime(150);
  expect(expired).toEqual(["first"]);
  vi.advanceTimersByTime(100);
  expect(expired).toEqual(["first", "later"]);
});

test("entries that are added after a pause expire", () => {
  const deadlines = new Deadlines(100);
  const one = timed("one");
  deadlines.add(one, performance.now());
  deadlines.remove(one);
  vi.advanceTimersByTime(1000);
  deadlines.add(timed("two"), performance.now());
  vi.advanceTimersByTime(101);
  expect(expired).toEqual(["two"]);
});

test("of thousands that expire together, some do in each turn, in their order", () => {
  const deadlines = new Deadlines(100);
  const names = Array.from({ length: 200 }, (_, index) => `${index}`);
  for (const name of names) deadlines.add(timed(name), performance.now());
  vi.advanceTimersByTime(100);
  expect(expired).toEqual(names.slice(0, 64));
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(names.slice(0, 128));
  vi.advanceTimersByTime(10);
  expect(expired).toEqual(names);
});
