import { expect, test } from "vitest";
import { PingPolicy } from "../../../src/runtime/http2/connection-limits.ts";

const LIMITS = { pingEveryMs: 5000, earlyPings: 2 };

test.each<
  [name: string, pings: readonly (readonly [now: number, sent: number])[], refused: number]
>([
  [
    "three at once after the first",
    [
      [0, 0],
      [0, 17],
      [1, 34],
      [2, 51],
    ],
    3,
  ],
  [
    "a flood, of which none is answered yet",
    [
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
    ],
    3,
  ],
  [
    "again and again, also when it was in time before",
    [
      [0, 0],
      [1, 17],
      [2, 34],
      [9000, 51],
      [9001, 68],
      [9002, 85],
      [9003, 102],
    ],
    6,
  ],
  [
    "nearly in time",
    [
      [0, 0],
      [4999, 17],
      [9998, 34],
      [14_997, 51],
    ],
    3,
  ],
  [
    "with as little sent as pings and settings are answered by",
    [
      [0, 0],
      [1, 64],
      [2, 128],
      [3, 192],
    ],
    3,
  ],
])("is too often: %s", (_name, pings, refused) => {
  const policy = new PingPolicy(LIMITS);
  const refusals = pings.map(([now, sent]) => policy.isTooOften(now, sent));
  expect(refusals.indexOf(true)).toBe(refused);
});

test.each<[name: string, pings: readonly (readonly [now: number, sent: number])[]]>([
  ["each 5 s, for ever", Array.from({ length: 100 }, (_, index) => [5000 * index, 17 * index])],
  [
    "among responses, as fast as they come",
    Array.from({ length: 100 }, (_, index) => [index, 100 * index]),
  ],
  [
    "two early ones, then one in time, again and again",
    Array.from({ length: 99 }, (_, index) => {
      return [10_000 * Math.floor(index / 3) + (index % 3), 17 * index];
    }),
  ],
])("is not: %s", (_name, pings) => {
  const policy = new PingPolicy(LIMITS);
  for (const [now, sent] of pings) expect(policy.isTooOften(now, sent)).toBe(false);
});
