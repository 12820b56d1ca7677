/** Addresses that start many device logins. */
import { expect, test } from "vitest";
import { DeviceStarts, UserCodeAttempts } from "../../../src/provider/embedded/device-limits.ts";
import { sqlite } from "../../support/databases.ts";

test("an IPv6 network counts as one address", async () => {
  const starts = new DeviceStarts((await sqlite()).open());
  for (let count = 0; count < 30; count++) {
    expect(await starts.begin(`2001:db8:1:2::${count.toString(16)}`)).toBeUndefined();
  }
  expect(await starts.begin("2001:db8:1:2:ffff::1")).toBeGreaterThan(0);
  expect(await starts.begin("2001:db8:1:3::1")).toBeUndefined();
});

const ADDRESS = "203.0.113.7";

test("a code that is right does not forgive the wrong ones before it", async () => {
  const attempts = new UserCodeAttempts((await sqlite()).open(), () => 1);
  let wrong = 0;
  for (let count = 0; count < 100; count++) {
    if ((await attempts.begin(ADDRESS)) !== undefined) break;
    // Every third attempt is a code of one's own.
    if (count % 3 === 2) await attempts.succeeded(ADDRESS);
    else wrong++;
  }
  expect(wrong).toBe(5);
});

test("codes that are right are never slowed", async () => {
  const attempts = new UserCodeAttempts((await sqlite()).open(), () => 1);
  for (let count = 0; count < 100; count++) {
    expect(await attempts.begin(ADDRESS)).toBeUndefined();
    await attempts.succeeded(ADDRESS);
  }
});
