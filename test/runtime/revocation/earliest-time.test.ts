import { expect, test } from "vitest";
import { EarliestTime } from "../../../src/runtime/revocation/earliest-time.ts";
import { DAY, HOUR, MINUTE, TestClocks } from "./clocks.ts";

function started() {
  const clocks = new TestClocks();
  const time = new EarliestTime(clocks.monotonic);
  const look = () => {
    time.observe(clocks.now());
    return time.value;
  };
  return { clocks, time, look, start: clocks.time };
}

test("a clock that was never observed is at no time", () => {
  expect(started().time.value).toBe(Number.NEGATIVE_INFINITY);
});

test("a jump ahead counts for nothing before a day, and back at once", () => {
  const { clocks, look, start } = started();
  look();
  clocks.jump(HOUR);
  for (let minutes = 10; minutes <= 23 * 60; minutes += 10) {
    clocks.pass(10 * MINUTE);
    expect(look()).toBe(start + minutes * MINUTE);
  }
  for (let minutes = 0; minutes < 180; minutes += 10) {
    clocks.pass(10 * MINUTE);
    look();
  }
  expect(look()).toBe(clocks.time);
  clocks.jump(-2 * DAY);
  expect(look()).toBe(clocks.time);
});

test("a monotonic clock that goes back is not followed", () => {
  const { clocks, look, start } = started();
  look();
  clocks.passed -= 1000;
  expect(look()).toBe(start);
});
