import { expect, test } from "vitest";
import {
  addressKey,
  quotaKey,
  throttleKeys,
} from "../../../../src/people/accounts/throttle/throttle-keys.ts";

const address = (text: string) => throttleKeys("alice", text).address;

test.each([
  ["203.0.113.7", "::ffff:203.0.113.7"],
  ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"],
  ["2001:db8:1:2::1", "2001:DB8:1:2:0:0:0:2"],
  ["2001:db8::1", "2001:db8:0:0:1::"],
  ["fe80::1%eth0", "fe80::2"],
])("%s and %s are one network", (one, other) => {
  expect(address(one)).toBe(address(other));
});

test.each([
  ["203.0.113.7", "203.0.113.8"],
  ["2001:db8:1:2::1", "2001:db8:1:3::1"],
  ["::1", "::2:0:0:0:1"],
])("%s and %s are two", (one, other) => {
  expect(address(one)).not.toBe(address(other));
});

test("the keys of an attempt differ from each other, and contain neither name nor address", () => {
  const keys = Object.values(throttleKeys("alice", "203.0.113.7"));
  expect(new Set(keys).size).toBe(3);
  for (const key of keys) expect(key).toMatch(/^[\w-]{43}$/);
});

test("replicas of this version and of 0.1.0 count a quota in the same row", () => {
  const key = "_xl1HRm1YYyOGmdQsn4EXb86LbFGgqppx_OuXVkQ0Uw";
  expect(quotaKey("starts of device logins", "203.0.113.7")).toBe(key);
  expect(addressKey("starts of device logins", "203.0.113.7")).toBe(key);
});
